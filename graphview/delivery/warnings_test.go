package delivery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

func testOrigin() *FaultOrigin { return &FaultOrigin{Resource: pods} }

// subscriber follows warnings as a client does.
type subscriber struct {
	number uint64
	live   map[WarningID]string
}

func (s *subscriber) follow(w *Warnings) {
	set, cleared, now, ok := w.since(s.number)
	if !ok {
		s.live = nil
	}
	if s.live == nil {
		s.live = map[WarningID]string{}
	}
	for _, c := range cleared {
		delete(s.live, c.ID())
	}
	for _, l := range set {
		s.live[l.ID()] = l.Message
	}
	s.number = now
}

func (s *subscriber) check(t *testing.T, w *Warnings) {
	t.Helper()
	s.follow(w)
	if len(s.live) != len(w.live) {
		t.Fatalf("subscriber has %d warnings, the view %d", len(s.live), len(w.live))
	}
	for id, l := range w.live {
		if s.live[id] != l.Message {
			t.Errorf("%v: subscriber has %q, the view %q", id, s.live[id], l.Message)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	w, tp, s := NewWarnings(func() {}), testOrigin(), &subscriber{}
	s.check(t, w)
	const n = 50
	for i := range n {
		w.SetFault(tp, "shop", fmt.Sprint("p", i), errors.New("no such key: x"))
		if i == 10 {
			s.check(t, w)
		}
	}
	s.check(t, w)
	if len(w.live) != maxShown+1 {
		t.Errorf("%d live warnings, want %d and one that counts the rest", len(w.live), maxShown)
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
	// The summary is made from causes and not from objects: the graph's writer waits for it, and
	// there may be very many objects.
	objects := w.faults.of
	w.faults.of = nil
	if got := w.Summary(false); len(got) != 1 || !strings.Contains(got[0], "50 not selected: no such key: x") {
		t.Errorf("summary %q", got)
	}
	w.faults.of = objects

	if w.SetFault(tp, "shop", "p0", errors.New("no such key: x")) || w.SetFault(tp, "shop", "unknown", nil) {
		t.Error("told of a change where there is none")
	}
	for i := range n {
		w.SetFault(tp, "shop", fmt.Sprint("p", i), nil)
	}
	s.check(t, w)
	if len(w.live) != 0 || len(w.faults.of) != 0 || w.Bytes() != 0 {
		t.Errorf("%d warnings and %d bytes are left of objects that are well again", len(w.live), w.Bytes())
	}
}

// TestFaultsDoNotNotify: a fault leaves it to the caller to notify subscribers, since many objects may
// fail in one revision.
func TestFaultsDoNotNotify(t *testing.T) {
	notified := 0
	w := NewWarnings(func() { notified++ })
	origin := &FaultOrigin{Resource: pods}
	for i := range 100 {
		name, err := fmt.Sprint("p", i), errors.New("no such key: x")
		if first, again := w.SetFault(origin, "shop", name, err), w.SetFault(origin, "shop", name, err); !first || again {
			t.Errorf("%s: the first fault changes the warnings: %t, the second: %t; want only the first", name, first, again)
		}
	}
	if notified != 0 {
		t.Errorf("%d notifications, want none", notified)
	}
	if w.Notify(); notified != 1 {
		t.Errorf("%d notifications, want one", notified)
	}
}

func TestWarningsOfAnotherTapStay(t *testing.T) {
	w, a, b, s := NewWarnings(func() {}), testOrigin(), testOrigin(), &subscriber{}
	w.SetFault(a, "shop", "p", errors.New("old"))
	w.SetFault(b, "shop", "p", errors.New("new"))
	s.check(t, w)
	w.DropFaults(a)
	s.check(t, w)
	if len(s.live) != 1 {
		t.Errorf("live %v, want that of the other tap", s.live)
	}
	w.DropFaults(b)
	s.check(t, w)
}

func TestSetReplacesWarnings(t *testing.T) {
	w, s := NewWarnings(func() {}), &subscriber{}
	one := func(message string) map[WarningID]Warning {
		l := Warning{Type: streamv1alpha1.DiscoveryFailed, Message: message}
		return map[WarningID]Warning{l.ID(): l}
	}
	w.Set(one("a"))
	s.check(t, w)
	w.Set(one("a"))
	if number := w.head(); number != s.number {
		t.Error("setting the same again is news")
	}
	w.Set(one("b"))
	s.check(t, w)
	w.Set(nil)
	s.check(t, w)
	if len(s.live) != 0 {
		t.Errorf("left: %v", s.live)
	}
}

// TestSubscriberFarBehind has more taken back than is remembered.
func TestSubscriberFarBehind(t *testing.T) {
	w, s := NewWarnings(func() {}), &subscriber{}
	tp := testOrigin()
	w.SetFault(tp, "shop", "first", errors.New("x"))
	s.check(t, w)
	w.SetFault(tp, "shop", "first", nil)
	for i := range maxCleared + 10 {
		w.SetFault(tp, "shop", fmt.Sprint("p", i), errors.New("x"))
		w.SetFault(tp, "shop", fmt.Sprint("p", i), nil)
	}
	if _, _, _, ok := w.since(s.number); ok {
		t.Error("a subscriber that missed what is forgotten was not told so")
	}
	s.check(t, w)
}

// coarseError tells an author who may not read the object less.
type coarseError struct{ error }

func (coarseError) CoarseText() string { return "it failed" }

// Without a service account, the summary does not depend on which part of an expression
// failed.
func TestCoarseSummary(t *testing.T) {
	w, j := NewWarnings(func() {}), testOrigin()
	for i, text := range []string{"no such key: a", "conversion error"} {
		w.SetFault(j, "shop", fmt.Sprint("p", i), fmt.Errorf("roots.objectSelectorExpressions[%d]: %w", i, coarseError{errors.New(text)}))
	}
	if got := w.Summary(true); len(got) != 1 || !strings.Contains(got[0], "2 not selected: it failed") {
		t.Errorf("coarse: %q", got)
	}
	if got := w.Summary(false); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestWarningsHaveABound: beyond the bound, one warning says how many are left out.
func TestWarningsHaveABound(t *testing.T) {
	w := NewWarnings(func() {})
	most := int(warningsBound.Limit())
	all := map[WarningID]Warning{}
	for i := range most + 500 {
		one := About(streamv1alpha1.InformerSyncFailed, "forbidden", pods, fmt.Sprint("ns-", i))
		all[one.ID()] = one
	}
	w.Set(all)
	set, _, _, _ := w.since(0)
	at := slices.IndexFunc(set, func(one Warning) bool { return one.Type == streamv1alpha1.LimitExceeded })
	if len(set) != most || at < 0 || !strings.HasPrefix(set[at].Message, "501 warnings are left out") {
		t.Errorf("%d warnings, want %d; the one about the others is number %d", len(set), most, at)
	}
}

// TestSummaryHasTheTypesOfTheStream: the status and the stream use the same types for a
// warning.
func TestSummaryHasTheTypesOfTheStream(t *testing.T) {
	for name, origin := range map[string]*FaultOrigin{
		"objects": testOrigin(), "namespaces": {Resource: graph.Resource{Version: "v1", Resource: "namespaces"}, Namespaces: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWarnings(func() {})
			w.SetFault(origin, "", "shop", errors.New("no such key: team"))
			set, _, _, _ := w.since(0)
			summary := w.Summary(false)
			if len(set) != 1 || len(summary) != 1 || !strings.HasPrefix(summary[0], set[0].Type+": ") {
				t.Errorf("the stream says %v, the status %q", set, summary)
			}
		})
	}
}

// TestWarningsOfFormerNamespaces: a subscriber that was connected before the spec named other namespaces
// shows the same warnings as a new subscriber.
func TestWarningsOfFormerNamespaces(t *testing.T) {
	lost := func(namespace string) map[WarningID]Warning {
		w := About(streamv1alpha1.InformerSyncFailed, "lost", pods, namespace)
		return map[WarningID]Warning{w.ID(): w}
	}
	for name, c := range map[string]struct {
		before, after       map[string]bool
		warned, warnedAfter map[WarningID]Warning
	}{
		"the spec no longer names it": {map[string]bool{"a": true}, map[string]bool{"b": true}, lost("a"), nil},
		"the spec begins to name it":  {nil, map[string]bool{"a": true}, lost("a"), lost("a")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.set("Running", false, "p")
			s.state.SetScope(nil, c.before, false)
			s.warnings.Set(c.warned)
			nothing := fixedAccess{access.Place{Resource: "configmaps"}: true}
			early := s.reader(SubscribeOptions{Access: nothing})
			defer early.Close()
			early.catchUp(t)
			s.state.SetScope(nil, c.after, false)
			s.warnings.Set(c.warnedAfter)
			early.catchUp(t)
			late := s.reader(SubscribeOptions{Access: nothing})
			defer late.Close()
			late.catchUp(t)
			if diff := cmp.Diff(late.warnings, early.warnings, cmp.AllowUnexported(WarningID{})); diff != "" {
				t.Errorf("(-begins +follows):\n%s", diff)
			}
		})
	}
}

// TestFaultThatIsLeft: an object fails by two origins; when one of them can evaluate it again, the warning is
// that of the other.
func TestFaultThatIsLeft(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "p")
	r := s.reader(SubscribeOptions{})
	defer r.Close()
	objects, releases := &FaultOrigin{Resource: secrets}, &FaultOrigin{Resource: secrets}
	s.warnings.SetFault(objects, "shop", "s", errors.New("a root fails"))
	s.warnings.SetFault(releases, "shop", "s", errors.New("the release cannot be unpacked"))
	r.catchUp(t)
	s.warnings.SetFault(releases, "shop", "s", nil)
	r.catchUp(t)
	if diff := cmp.Diff([]string{"v1/secrets shop/s: a root fails"}, slices.Collect(maps.Values(r.warnings))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
