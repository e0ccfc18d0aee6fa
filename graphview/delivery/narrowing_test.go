package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// link makes pods, each as namespace/name, and their references.
func (s *stage) link(pods map[string][]string) {
	s.graph.Update(func() {
		for _, from := range slices.Sorted(maps.Keys(pods)) {
			namespace, name, _ := strings.Cut(from, "/")
			o := &graph.Object{Namespace: namespace, Name: name, Payload: &fakeObject{uid: "uid-" + name, json: `{"kind":"Pod"}`}}
			for _, to := range pods[from] {
				r := graph.Reference{To: graph.Kind{Kind: "Pod"}, Type: graph.Direct, Field: "spec.next"}
				r.Namespace, r.Name, _ = strings.Cut(to, "/")
				o.References = append(o.References, r)
			}
			s.show(o, graph.Selection{Member: true})
		}
	})
}

func narrowTo(t *testing.T, depth int, direction string, roots ...string) *graph.Narrowing {
	t.Helper()
	n, err := ParseNarrowing(roots, direction, depth)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (r *reader) names() []string { return slices.Sorted(maps.Keys(r.vertices)) }

func (r *reader) wants(t *testing.T, when string, want ...string) {
	t.Helper()
	r.catchUp(t)
	if diff := cmp.Diff(want, r.names()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// TestNarrowedThroughHidden: what a subscriber may not see leads nowhere: neither is it
// known that something is behind it, nor what uses it.
func TestNarrowedThroughHidden(t *testing.T) {
	mayReadShop := fixedAccess{{Resource: "pods", Namespace: "shop"}: true}
	chain := map[string][]string{"shop/a": {"shop/b", "red/hidden"}, "shop/b": nil, "red/hidden": {"shop/c"}, "shop/c": nil, "shop/user": {"red/hidden"}}
	for name, test := range map[string]struct {
		what      *graph.Narrowing
		access    Access
		want      []string
		wantRoots int // that are said not to be there
	}{
		"who sees all":              {narrowTo(t, 0, "Down", "pods/shop/a"), nil, []string{"a", "b", "c", "hidden"}, 0},
		"down through it":           {narrowTo(t, 0, "Down", "pods/shop/a"), mayReadShop, []string{"a", "b"}, 0},
		"both ways through it":      {narrowTo(t, 0, "Both", "pods/shop/a"), mayReadShop, []string{"a", "b"}, 0},
		"up through it":             {narrowTo(t, 0, "Up", "pods/shop/c"), mayReadShop, []string{"c"}, 0},
		"from it":                   {narrowTo(t, 0, "Both", "pods/red/hidden"), mayReadShop, nil, 1},
		"from what is not there":    {narrowTo(t, 0, "Both", "pods/red/other"), mayReadShop, nil, 1},
		"one step":                  {narrowTo(t, 1, "Down", "pods/shop/a"), nil, []string{"a", "b", "hidden"}, 0},
		"of two roots, one is here": {narrowTo(t, 1, "Up", "pods/shop/b", "pods/shop/other"), nil, []string{"a", "b"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.link(chain)
			r := s.reader(SubscribeOptions{Access: test.access, Narrow: test.what})
			r.wants(t, "at first", test.want...)
			roots := 0
			for id := range r.warnings {
				if id.kind == streamv1alpha1.RootNotFound {
					roots++
				}
			}
			if roots != test.wantRoots {
				t.Errorf("%d roots are said not to be there, want %d: %v", roots, test.wantRoots, r.warnings)
			}
			// Nor does it show when it changes.
			before, sent := maps.Clone(r.vertices), r.sent
			s.link(map[string][]string{"red/hidden": {"shop/b"}})
			if r.catchUp(t); test.access != nil && (r.sent != sent || !maps.Equal(before, r.vertices)) {
				t.Errorf("a change of what is hidden was sent: %v, before %v", r.vertices, before)
			}
		})
	}
}

// TestNarrowedFollows: a narrowed graph follows the view, and says when its root is there.
func TestNarrowedFollows(t *testing.T) {
	for _, content := range []Content{WholeObject, SummaryOnly, KeysOnly} {
		s := newStage(t)
		r := s.reader(SubscribeOptions{Narrow: narrowTo(t, 2, "Down", "pods/shop/a"), Content: content})
		s.link(map[string][]string{"shop/b": {"shop/c"}, "shop/c": {"shop/d"}, "shop/d": nil, "shop/x": nil})
		r.wants(t, "before the root is there")
		if len(r.warnings) != 1 {
			t.Fatalf("warnings %v, want one", r.warnings)
		}
		s.link(map[string][]string{"shop/a": {"shop/b"}})
		r.wants(t, "with the root", "a", "b", "c")
		if len(r.warnings) != 0 {
			t.Errorf("the root is there, and yet: %v", r.warnings)
		}
		sent := r.sent
		s.link(map[string][]string{"shop/x": {"shop/d"}})
		r.wants(t, "after a change elsewhere", "a", "b", "c")
		if r.sent != sent {
			t.Errorf("%d vertices sent for a change elsewhere", r.sent-sent)
		}
		s.link(map[string][]string{"shop/a": {"shop/b", "shop/d"}})
		r.wants(t, "after another arc", "a", "b", "c", "d")
		s.link(map[string][]string{"shop/a": {"shop/d"}})
		r.wants(t, "without the first", "a", "d")
		s.remove("a")
		r.wants(t, "without the root")
		if len(r.warnings) != 1 {
			t.Errorf("warnings %v, want one", r.warnings)
		}
		r.Close()
	}
}

// TestNarrowedResumes: a subscriber that reconnects with a current rev resumes. It is reset if
// the graph has changed, or if it asks for another part.
func TestNarrowedResumes(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"shop/a": {"shop/b", "shop/c"}, "shop/b": nil, "shop/c": nil})
	what := narrowTo(t, 0, "Down", "pods/shop/a")
	r := s.reader(SubscribeOptions{Narrow: what})
	r.wants(t, "at first", "a", "b", "c")
	r.Close()
	back := s.reader(SubscribeOptions{Narrow: what, Since: r.rev})
	back.vertices = r.vertices
	back.wants(t, "after coming back", "a", "b", "c")
	if back.sent != 0 {
		t.Errorf("%d vertices were sent, though nothing has changed", back.sent)
	}
	s.link(map[string][]string{"shop/a": {"shop/b"}})
	back.wants(t, "after a change", "a", "b")
	if back.sent != 1 {
		t.Errorf("%d vertices were sent, want the one that changed", back.sent)
	}
	for name, other := range map[string]*graph.Narrowing{"another depth": narrowTo(t, 1, "Down", "pods/shop/a"), "all of it": nil} {
		again := s.reader(SubscribeOptions{Narrow: other, Since: back.rev})
		frames, err := again.Poll()
		for err == nil && len(frames) == 0 {
			frames, err = again.Poll()
		}
		if err != nil || !frames[0].Reset {
			t.Errorf("%s: %v, not a reset", name, err)
		}
		again.Close()
	}
	back.Close()
	s.link(map[string][]string{"shop/b": {"shop/c"}})
	late := s.reader(SubscribeOptions{Narrow: what, Since: back.rev})
	late.vertices["gone"] = ""
	late.wants(t, "after a change meanwhile", "a", "b", "c")
}

// TestNarrowedResumesAfterAnother: a subscriber that reconnects does not keep objects that were
// deleted in between, even if another subscriber with the same rights and narrowing has read.
func TestNarrowedResumesAfterAnother(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"shop/a": {"shop/b"}, "shop/b": nil, "shop/x": nil})
	what := narrowTo(t, 0, "Down", "pods/shop/a")
	seldom := s.reader(SubscribeOptions{Narrow: what})
	seldom.wants(t, "before x", "a", "b")
	s.link(map[string][]string{"shop/b": {"shop/x"}})
	r := s.reader(SubscribeOptions{Narrow: what})
	r.wants(t, "with x", "a", "b", "x")
	s.link(map[string][]string{"shop/b": nil})
	seldom.wants(t, "after x", "a", "b")
	r.Close()
	seldom.Close()
	back := s.reader(SubscribeOptions{Narrow: what, Since: r.rev})
	back.vertices = r.vertices
	back.wants(t, "after coming back", "a", "b")
	back.Close()
}

// learning is a subscriber with rights that become known on demand.
type learning struct {
	known, all fixedRights
	asked      int
}

func (l *learning) Rights() Rights           { return someRights(maps.Clone(l.known)) }
func (l *learning) Changed() <-chan struct{} { return nil }
func (l *learning) Resolve(_ context.Context, places []access.Place) error {
	for _, p := range places {
		l.asked++
		l.known[p] = l.all[p]
	}
	return nil
}

// someRights know what is among them.
type someRights map[access.Place]bool

func (r someRights) Allowed(p access.Place) (allowed, known bool) {
	allowed, known = r[p]
	return allowed, known
}
func (r someRights) Digest() string { return fixedRights(r).Digest() }

// TestNarrowedLearns: where the walk needs to know a right that is not known, it is asked
// for, and what was there stays.
func TestNarrowedLearns(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"shop/a": {"shop/b"}, "shop/b": nil, "red/c": {"blue/d"}, "blue/d": nil, "green/e": nil})
	all := fixedRights{}
	for _, namespace := range []string{"shop", "red", "blue"} {
		all[access.Place{Resource: "pods", Namespace: namespace}] = true
	}
	who := &learning{known: fixedRights{}, all: all}
	r := s.reader(SubscribeOptions{Narrow: narrowTo(t, 0, "Down", "pods/shop/a"), Access: who})
	r.wants(t, "at first", "a", "b")
	if who.asked != 1 {
		t.Errorf("%d rights were asked for, want that in shop alone", who.asked)
	}
	sent := r.sent
	s.link(map[string][]string{"shop/b": {"red/c"}})
	r.wants(t, "after an arc to elsewhere", "a", "b", "c", "d")
	if r.sent != sent+3 {
		t.Errorf("%d vertices were sent again, want b, c and d", r.sent-sent)
	}
}

// TestNarrowedIsPaidFor: walks are charged and waited for, what is held is counted, and
// who holds too much is told.
func TestNarrowedIsPaidFor(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"shop/a": {"shop/b"}, "shop/b": nil})
	owner := budget.NamespaceOwner("shop")
	ledger, visits := budget.NewLedger(1<<20), budget.NewBuckets(1, time.Hour).Bucket(owner)
	visits.Borrow(1) // all that there are
	r := s.reader(SubscribeOptions{Narrow: narrowTo(t, 0, "Down", "pods/shop/a"), Memory: ledger.Account(owner), Visits: visits})
	r.wants(t, "at first", "a", "b")
	if held := ledger.Total(); held != 3*narrowedBytes {
		t.Errorf("%d bytes held, want those of 3 elements", held)
	}
	s.link(map[string][]string{"shop/b": {"shop/a"}, "shop/c": nil})
	if frames, err := r.Poll(); len(frames) != 0 || err != nil {
		t.Errorf("while there is nothing to pay with: %d frames, %v", len(frames), err)
	}
	r.Close()
	if held := ledger.Total(); held != 0 {
		t.Errorf("%d bytes held after the end", held)
	}
	visits = budget.NewBuckets(1_000, time.Hour).Bucket(owner)
	r = s.reader(SubscribeOptions{Narrow: narrowTo(t, 0, "Down", "pods/shop/a"), Memory: budget.NewLedger(narrowedBytes).Account(owner), Visits: visits})
	_, err := r.Poll()
	if closed, ok := errors.AsType[*ClosedError](err); !ok || closed.Reason != reason.LimitExceeded {
		t.Errorf("held too much: %v", err)
	}
}

// TestNarrowedFailuresArePaidFor: a walk that ends without a graph is charged too, and
// who already owes waits before the first one, also after coming back.
func TestNarrowedFailuresArePaidFor(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"shop/a": {"shop/b"}, "shop/b": nil})
	what := narrowTo(t, 0, "Down", "pods/shop/a")
	owner := budget.NamespaceOwner("shop")
	ledger, few := budget.NewLedger(1<<20), budget.NewBuckets(1, time.Hour)
	few.Bucket(owner).Borrow(1) // all that there are
	for _, step := range []struct {
		name   string
		access Access
	}{{"without rights", &learning{known: fixedRights{}}}, {"who owes came back", nil}} {
		r := s.reader(SubscribeOptions{Narrow: what, Access: step.access, Memory: ledger.Account(owner), Visits: few.Bucket(owner)})
		if frames, err := r.Poll(); len(frames) != 0 || err != nil {
			t.Fatalf("%s: %d frames, %v", step.name, len(frames), err)
		}
		r.Close()
	}
	var missing []string
	for i := range 50_001 {
		missing = append(missing, fmt.Sprint("shop/missing", i))
	}
	s.link(map[string][]string{"shop/b": missing})
	visits := budget.NewBuckets(1_000_000, time.Hour).Bucket(owner)
	r := s.reader(SubscribeOptions{Narrow: what, Memory: ledger.Account(owner), Visits: visits})
	_, err := r.Poll()
	charged := visits.Size() - visits.Left()
	if closed, ok := errors.AsType[*ClosedError](err); !ok || closed.Reason != reason.LimitExceeded || charged < len(missing)/2 || ledger.Total() != 0 {
		t.Errorf("too much: %v, %d tokens charged, %d bytes held; want that all are charged", err, charged, ledger.Total())
	}
	r.Close()
}

// TestNarrowedCosts: a user with an empty bucket waits, also for a walk that costs more
// than a full bucket.
func TestNarrowedCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := narrowing{visits: budget.NewBuckets(100, 10*time.Second).Bucket(budget.NamespaceOwner("a"))}
		if n.charge(200); !n.until.IsZero() {
			t.Errorf("a waits until %v for what it has", n.until)
		}
		if n.charge(1_000_000); time.Until(n.until) != 10*time.Second {
			t.Errorf("a waits %v, want the ten seconds in which it has all again", time.Until(n.until))
		}
	})
}

// TestNarrowedIsHeld: the elements of a narrowed graph are charged to its user until it
// is closed.
func TestNarrowedIsHeld(t *testing.T) {
	owner, ledger := budget.NamespaceOwner("a"), budget.NewLedger(100*narrowedBytes)
	part := func() *narrowing {
		return newNarrowing(&SubscribeOptions{Narrow: new(graph.Narrowing), Memory: ledger.Account(owner)})
	}
	one, two := part(), part()
	for i, step := range []struct {
		of       *narrowing
		elements int
		refused  bool
	}{{one, 50, false}, {two, 1, true}, {one, 20, false}, {two, 30, false}, {two, 31, true}, {one, 0, false}, {two, 50, false}} {
		if err := step.of.hold(step.elements); (err != nil) != step.refused {
			t.Errorf("step %d: %v", i, err)
		}
	}
	// While memory is short, the largest account is refused at the next read of its graph.
	if _, ok := ledger.Relieve(); !ok {
		t.Fatal("nobody gives back")
	}
	if err := two.hold(10); err == nil {
		t.Error("it holds what it had to give back")
	}
	if two.close(); ledger.Total() != 0 {
		t.Errorf("after the end: %d bytes", ledger.Total())
	}
}
