package stream

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/history"
)

// TestPastIsKnown: a time is refused, with the reason and the remedy, if the history does not have the whole graph of that time.
// An answer would be a graph that never was.
func TestPastIsKnown(t *testing.T) {
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).UnixMicro() }
	view := newView("shop/web")
	view.since, view.gaps = ago(2*time.Hour), []history.Gap{{From: ago(60 * time.Minute), Until: ago(30 * time.Minute), Why: "the watch was interrupted"}}
	s := serve(t, fakeCluster{view})
	for query, want := range map[string]string{
		"at=3h":  "the history of this graph begins at ",
		"at=45m": "the history has a gap from ",
		"at=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339): "is in the future; leave it out for the graph as it is now",
	} {
		if code, body := s.get(webGraph+"?"+query, nil); code != http.StatusBadRequest || !strings.Contains(statusOf(t, body).Message, want) {
			t.Errorf("?%s: %d %s, want %q", query, code, body, want)
		}
	}
	for _, query := range []string{"at=90m", "at=29m", "at=0s"} {
		go func() { (<-view.subscribed).end() }()
		if code, body := s.get(webGraph+"?"+query, nil); code != http.StatusOK {
			t.Errorf("?%s: %d %s", query, code, body)
		}
	}
}

// TestAssembledAnswersShareALimit: a graph of the past, the impact of a deletion, changes and the exports of one user count
// together. The graph as it is now is sent as it is read, and does not count.
func TestAssembledAnswersShareALimit(t *testing.T) {
	view := newView("shop/web")
	view.since = 1
	s := serve(t, fakeCluster{view})
	for s.exports.Owners.Take(budget.UserOwner(&user.DefaultInfo{Name: "reader"})) == nil {
	}
	for _, query := range []string{"at=1h", "impact=pods/shop/web-1", "changes=", "format=dot"} {
		code, body := s.get(webGraph+"?"+query, nil)
		if status := statusOf(t, body); code != http.StatusTooManyRequests || status.Details == nil || status.Details.RetryAfterSeconds == 0 {
			t.Errorf("?%s: %d %s", query, code, body)
		}
	}
	go func() { (<-view.subscribed).end() }()
	if code, body := s.get(webGraph, nil); code != http.StatusOK {
		t.Errorf("the graph now: %d %s", code, body)
	}
}
