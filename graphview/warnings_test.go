package graphview

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/resources"
)

func testTap() *tap {
	return &tap{need: need{resource: resources.Resource{Version: "v1", Resource: "pods", Namespaced: true}}}
}

// subscriber follows warnings as a client does.
type subscriber struct {
	number uint64
	live   map[string]string
}

func (s *subscriber) follow(w *warnings) {
	set, cleared, now, ok := w.since(s.number)
	if !ok {
		s.live = nil
	}
	if s.live == nil {
		s.live = map[string]string{}
	}
	for _, c := range cleared {
		delete(s.live, c.id())
	}
	for _, l := range set {
		s.live[l.id()] = l.Message
	}
	s.number = now
}

func (s *subscriber) check(t *testing.T, w *warnings) {
	t.Helper()
	s.follow(w)
	if len(s.live) != len(w.live) {
		t.Fatalf("subscriber has %d warnings, the view %d", len(s.live), len(w.live))
	}
	for id, l := range w.live {
		if s.live[id] != l.Message {
			t.Errorf("%q: subscriber has %q, the view %q", id, s.live[id], l.Message)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	changes := 0
	w, tp, s := newWarnings(func() { changes++ }), testTap(), &subscriber{}
	s.check(t, w)
	const n = 50
	for i := range n {
		w.setFault(tp, "shop", fmt.Sprint("p", i), errors.New("no such key: x"))
		if i == 10 {
			s.check(t, w)
		}
	}
	s.check(t, w)
	if len(w.live) != maxFaults+1 {
		t.Errorf("%d live warnings, want %d and one that counts the rest", len(w.live), maxFaults)
	}
	counted := slices.ContainsFunc(slices.Collect(func(yield func(string) bool) {
		for _, m := range s.live {
			if !yield(m) {
				return
			}
		}
	}), func(m string) bool { return strings.HasPrefix(m, "30 more objects") })
	if !counted {
		t.Errorf("no warning counts the other 30: %v", s.live)
	}
	if got := w.summary(false); len(got) != 1 || !strings.Contains(got[0], "50 not selected: no such key: x") {
		t.Errorf("summary %q", got)
	}

	before := changes
	w.setFault(tp, "shop", "p0", errors.New("no such key: x"))
	w.setFault(tp, "shop", "unknown", nil)
	if changes != before {
		t.Error("told of a change where there is none")
	}
	for i := range n {
		w.setFault(tp, "shop", fmt.Sprint("p", i), nil)
	}
	s.check(t, w)
	if len(w.live) != 0 {
		t.Errorf("%d warnings are left of objects that are well again", len(w.live))
	}
}

func TestWarningsOfAnotherTapStay(t *testing.T) {
	w, a, b, s := newWarnings(func() {}), testTap(), testTap(), &subscriber{}
	w.setFault(a, "shop", "p", errors.New("old"))
	w.setFault(b, "shop", "p", errors.New("new"))
	s.check(t, w)
	w.dropFaults(a)
	s.check(t, w)
	if len(s.live) != 1 {
		t.Errorf("live %v, want that of the other tap", s.live)
	}
	w.dropFaults(b)
	s.check(t, w)
}

func TestSetReplacesWarnings(t *testing.T) {
	w, s := newWarnings(func() {}), &subscriber{}
	one := func(message string) map[string]warning {
		l := warning{Type: "DISCOVERY_FAILED", Message: message}
		return map[string]warning{l.id(): l}
	}
	w.set(one("a"))
	s.check(t, w)
	w.set(one("a"))
	if number := w.head(); number != s.number {
		t.Error("setting the same again is news")
	}
	w.set(one("b"))
	s.check(t, w)
	w.set(nil)
	s.check(t, w)
	if len(s.live) != 0 {
		t.Errorf("left: %v", s.live)
	}
}

// TestSubscriberFarBehind has more taken back than is remembered.
func TestSubscriberFarBehind(t *testing.T) {
	w, s := newWarnings(func() {}), &subscriber{}
	tp := testTap()
	w.setFault(tp, "shop", "first", errors.New("x"))
	s.check(t, w)
	w.setFault(tp, "shop", "first", nil)
	for i := range maxCleared + 10 {
		w.setFault(tp, "shop", fmt.Sprint("p", i), errors.New("x"))
		w.setFault(tp, "shop", fmt.Sprint("p", i), nil)
	}
	if _, _, _, ok := w.since(s.number); ok {
		t.Error("a subscriber that missed what is forgotten was not told so")
	}
	s.check(t, w)
}

// What an author without a service account is told does not depend on which part of
// an expression failed.
func TestCoarseSummary(t *testing.T) {
	var told [2]string
	for i, err := range []error{
		&expr.EvaluationError{Line: 1, Column: 9, Message: "no such key: a"}, &expr.EvaluationError{Line: 1, Column: 32, Message: "conversion error"},
	} {
		if one := troubleOf(err); strings.Contains(one.coarse, "line") || !strings.Contains(one.text, "line") {
			t.Errorf("text %q, coarse %q", one.text, one.coarse)
		}
		told[i] = troubleOf(fmt.Errorf("roots.objectSelectorExpressions[%d]: %w", i, err)).coarse
	}
	if told[0] != told[1] {
		t.Errorf("%q and %q differ", told[0], told[1])
	}
}
