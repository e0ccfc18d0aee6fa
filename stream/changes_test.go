package stream

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "-90s": now.Add(-90 * time.Second), "3d": now.Add(-72 * time.Hour), "0s": now,
		"2026-11-29T09:30:00Z": now.Add(-30 * time.Minute), "2026-11-29T10:30:00.000001+01:00": now.Add(-30*time.Minute + time.Microsecond),
	} {
		if got, err := parseMoment(text, now); err != nil || got != want.UnixMicro() {
			t.Errorf("%s: %v %v, want %v", text, time.UnixMicro(got).UTC(), err, want)
		}
	}
	for _, text := range []string{"-", "d", "x", "--2h", "2026-11-29", "5000d", "-3dd", "NaNd", "Infd"} {
		if got, err := parseMoment(text, now); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

// TestChangesOfEntry: an entry becomes the changes that people would name, an effect before its cause, without the changes that
// another entry implies.
func TestChangesOfEntry(t *testing.T) {
	ok, broken := history.HealthOf(health.Health{State: health.OK}), history.HealthOf(health.Health{State: health.Degraded, Reason: "CrashLoopBackOff"})
	entry := func(e history.Entry) *delivery.Changed {
		e.Object = graph.Key{Resource: graph.Resource{Version: "v1", Resource: "pods"}, Namespace: "shop", Name: "web"}
		e.Kind, e.At = "Pod", 1_700_000_000_000_000
		return &delivery.Changed{Entry: &e, Times: 1, First: e.At}
	}
	for name, test := range map[string]struct {
		changed *delivery.Changed
		want    []string
	}{
		"added":   {entry(history.Entry{Op: history.Added, After: ok}), []string{"added >ok"}},
		"removed": {entry(history.Entry{Op: history.Removed, Before: broken}), []string{"removed degraded>"}},
		"health and content": {
			entry(history.Entry{Before: ok, After: broken, Paths: []history.Path{{Path: "spec.image", Before: "a", After: "b"}}, More: 2}),
			[]string{"health ok>degraded CrashLoopBackOff", "content spec.image a>b and 2"},
		},
		"counts alone":     {entry(history.Entry{Before: ok, After: ok}), nil},
		"an implied arc":   {entry(history.Entry{Before: ok, After: ok, Arcs: []history.Arc{{Implied: true, Before: graph.ArcSide{Exists: true}}}}), nil},
		"a hidden target":  {entry(history.Entry{Before: ok, After: ok, Arcs: []history.Arc{{Before: graph.ArcSide{Exists: true}}}}), nil},
		"fields of an arc": {entry(history.Entry{Before: ok, After: ok, Arcs: []history.Arc{{Before: graph.ArcSide{Exists: true}, After: graph.ArcSide{Exists: true}}}}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range changesOfEntry(test.changed) {
				line := string(c.Type)
				if h := c.Health; h != nil {
					line += strings.TrimRight(" "+h.From+">"+h.To+" "+h.Why, " ")
				}
				for _, p := range c.Paths {
					line += " " + p.Path + " " + *p.Before + ">" + *p.After
				}
				if c.MorePaths > 0 {
					line += " and 2"
				}
				got = append(got, line)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestChangesRefused: a question that cannot be answered has a Status that says why.
func TestChangesRefused(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	for query, want := range map[string]struct {
		code int
		text string
	}{
		"changes=":                   {http.StatusNotFound, "history.enabled=true"},
		"changes=pods/shop/web-1":    {http.StatusNotFound, "history.enabled=true"},
		"at=1h":                      {http.StatusNotFound, "history.enabled=true"},
		"changes=web":                {http.StatusBadRequest, "RESOURCE.GROUP/NAMESPACE/NAME"},
		"changes=&limit=0":           {http.StatusBadRequest, "from 1 to 1000"},
		"changes=&limit=5000":        {http.StatusBadRequest, "from 1 to 1000"},
		"changes=&since=yesterday":   {http.StatusBadRequest, "2h or 3d"},
		"changes=&until=x":           {http.StatusBadRequest, "until"},
		"changes=&since=1h&until=2h": {http.StatusBadRequest, "since must be before until"},
		"changes=&alone=perhaps":     {http.StatusBadRequest, "alone"},
		"changes=&format=dot":        {http.StatusBadRequest, "dot"},
		"at=1970-01-01T00:00:00Z":    {http.StatusNotFound, "history.enabled=true"},
		"at=x":                       {http.StatusBadRequest, "2h or 3d"},
		"at=1h&content=object":       {http.StatusBadRequest, "content=summary"},
		"at=1h&root=pods/shop/web-1": {http.StatusBadRequest, "root"},
	} {
		code, body := s.get(graphs+"namespaces/shop/graphs/web?"+query, nil)
		if code != want.code || !strings.Contains(string(body), want.text) {
			t.Errorf("%s: %d %s, want %d with %q", query, code, body, want.code, want.text)
		}
		if want.code == http.StatusNotFound && statusOf(t, body).Details.Kind != historyDetail {
			t.Errorf("%s: %s", query, body)
		}
	}
}
