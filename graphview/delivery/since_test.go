package delivery

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
)

// accessTo has rights to some of the namespaces n0, n1 and n2. None of them is known yet.
func accessTo(namespaces ...string) *someNamespaces {
	a := &someNamespaces{may: map[string]bool{"n0": false, "n1": false, "n2": false}, known: map[string]bool{}, changed: make(chan struct{})}
	for _, name := range namespaces {
		a.may[name] = true
	}
	return a
}

// equals compares the graph with that of a subscriber that begins.
func (c *copyOf) equals(t *testing.T, s *stage, o SubscribeOptions) {
	t.Helper()
	o.Since, o.Have, o.Sums = "", nil, nil
	fresh := newCopy()
	one := s.reader(o)
	defer one.Close()
	fresh.follow(t, one, 0)
	if diff := cmp.Diff(fresh.vertices, c.vertices) + cmp.Diff(fresh.arcs, c.arcs); diff != "" {
		t.Fatalf("-fresh +continued:\n%s", diff)
	}
}

// TestSinceOfForgottenRights: a subscriber whose rights the server does not know, or no longer, gets the changes after its
// revision if its rights are those of the revision. Otherwise it is reset.
func TestSinceOfForgottenRights(t *testing.T) {
	part := narrowTo(t, 1, "Down", "pods/n0/a") // without n2/d
	tests := map[string]struct {
		before, after []string
		narrow        *graph.Narrowing
		meanwhile     func(*stage)
		wantResets    int
		wantSets      int
	}{
		"nothing has changed": {before: []string{"n0", "n1"}, after: []string{"n0", "n1"}},
		"an object has changed": {
			before: []string{"n0", "n1"}, after: []string{"n0", "n1"}, wantSets: 1,
			meanwhile: func(s *stage) { s.link(map[string][]string{"n0/a": {"n1/b"}}) },
		},
		"an object was deleted": {
			before: []string{"n0", "n1"}, after: []string{"n0", "n1"}, wantSets: 1, // a refers to it
			meanwhile: func(s *stage) { s.graph.Update(func() { s.graph.Remove(s.source, "n1", "b") }) },
		},
		"the view is not complete": {before: []string{"n0", "n1"}, after: []string{"n0", "n1"}, meanwhile: func(s *stage) {
			s.publisher.o.State = NewViewState()
			s.selectPods()
		}},
		"a right was lost":             {before: []string{"n0", "n1"}, after: []string{"n0"}, wantResets: 1, wantSets: 3},
		"a right was gained":           {before: []string{"n0"}, after: []string{"n0", "n1"}, wantResets: 1, wantSets: 6},
		"all rights were lost":         {before: []string{"n0", "n1"}, wantResets: 1},
		"a part, nothing has changed":  {before: []string{"n0", "n1"}, after: []string{"n0", "n1"}, narrow: part},
		"a part, and a right was lost": {before: []string{"n0", "n1"}, after: []string{"n0"}, narrow: part, wantResets: 1, wantSets: 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.selectPods()
			s.link(map[string][]string{"n0/a": {"n0/c", "n1/b"}, "n0/c": nil, "n1/b": nil, "n1/e": {"n2/d"}, "n2/d": nil})
			mine := newCopy()
			first := s.reader(SubscribeOptions{Access: accessTo(test.before...), Narrow: test.narrow})
			mine.follow(t, first, 0)
			first.Close()
			if test.meanwhile != nil {
				test.meanwhile(s)
			}
			mine.sets, mine.resets = 0, 0
			again := SubscribeOptions{Access: accessTo(test.after...), Narrow: test.narrow, Since: mine.rev, JoinWalk: true}
			one := s.reader(again)
			mine.follow(t, one, 0)
			one.Close()
			if mine.resets != test.wantResets || mine.sets != test.wantSets {
				t.Errorf("%d resets and %d elements, want %d and %d", mine.resets, mine.sets, test.wantResets, test.wantSets)
			}
			again.Access = accessTo(test.after...)
			mine.equals(t, s, again)
		})
	}
}

// TestSinceOfLargeGraph: the rights that decide about a revision are found in the whole graph, and not in its first piece.
func TestSinceOfLargeGraph(t *testing.T) {
	s := newStage(t)
	s.crowd(2 * catchUpLimit.elements)
	s.link(map[string][]string{"n1/late": nil})
	mine := newCopy()
	first := s.reader(SubscribeOptions{Access: accessTo("shop", "n1")})
	mine.follow(t, first, 0)
	first.Close()
	s.link(map[string][]string{"shop/p7": {"n1/late"}})
	mine.sets, mine.resets = 0, 0
	mine.follow(t, s.reader(SubscribeOptions{Access: accessTo("shop", "n1"), Since: mine.rev}), 0)
	if mine.resets > 0 || mine.sets != 2 {
		t.Errorf("%d resets and %d elements, want an object and a reference", mine.resets, mine.sets)
	}
	mine.equals(t, s, SubscribeOptions{Access: accessTo("shop", "n1")})
}

// selectPods has the view select pods in all namespaces, so that some subscribers are warned about them.
func (s *stage) selectPods() {
	s.publisher.o.State.SetScope([]ScopedResource{{Resource: pods, Namespaced: true}}, nil, false)
}

// TestSinceCountsOnce: a subscriber that is reset in place of continuing does not continue after its revision later, when
// its rights become those of the revision again.
func TestSinceCountsOnce(t *testing.T) {
	for name, narrow := range map[string]*graph.Narrowing{"the graph": nil, "a part": narrowTo(t, 0, "Down", "pods/n0/a")} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.link(map[string][]string{"n0/a": {"n0/c", "n1/b"}, "n0/c": nil, "n1/b": nil})
			mine := newCopy()
			first := s.reader(SubscribeOptions{Access: accessTo("n0", "n1"), Narrow: narrow})
			mine.follow(t, first, 0)
			first.Close()
			now := accessTo("n0")
			one := s.reader(SubscribeOptions{Access: now, Narrow: narrow, Since: mine.rev})
			mine.follow(t, one, 0)
			now.may["n1"] = true
			close(now.changed)
			now.changed = make(chan struct{})
			mine.follow(t, one, 0)
			one.Close()
			mine.equals(t, s, SubscribeOptions{Access: accessTo("n0", "n1"), Narrow: narrow})
		})
	}
}

// TestSinceAfterAnything: a subscriber that continues after its revision gets the graph of a new subscriber, whatever
// changed in the graph and in its rights. If the rights are those of the revision, the subscriber is not reset.
func TestSinceAfterAnything(t *testing.T) {
	continued, reset := 0, 0
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			s := newStage(t)
			s.history(r, 60)
			mine := newCopy()
			compares := r.IntN(2) == 0
			content := []Content{WholeObject, SummaryOnly, KeysOnly}[r.IntN(3)]
			for range 6 {
				now := accessTo("n0")
				now.may["n1"], now.may["n2"] = r.IntN(5) > 0, r.IntN(5) == 0
				o := SubscribeOptions{Access: now, Since: mine.rev, Content: content, Tags: compares, JoinWalk: r.IntN(2) == 0}
				if compares && r.IntN(2) == 0 {
					o.Have = mine.have(r)
				}
				mine.resets, mine.kept = 0, 0
				one := s.reader(o)
				mine.follow(t, one, 0)
				switch before := s.publisher.decode(o.Since, one.wanted); {
				case o.Since == "":
				case mine.resets+mine.kept == 0:
					continued++
				case before.isFor(viewer{rights: now.Rights()}):
					t.Error("reset, although the rights are those of the revision")
				default:
					reset++
				}
				s.history(r, r.IntN(5))
				mine.follow(t, one, 0)
				one.Close()
				o.Access = now
				mine.equals(t, s, o)
				s.history(r, r.IntN(10))
			}
		})
	}
	if continued < 200 || reset < 200 {
		t.Errorf("%d continued and %d were reset, want both often", continued, reset)
	}
}

// TestSinceThatIsTooOld: a subscriber that lacks deletions that the view has forgotten gets the difference, if it says its
// contents, and is reset otherwise.
func TestSinceThatIsTooOld(t *testing.T) {
	for name, knows := range map[string]bool{"known rights": true, "forgotten rights": false} {
		for _, have := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", have: ", have), func(t *testing.T) {
				s := newStage(t)
				s.crowd(500)
				mine := newCopy()
				o := SubscribeOptions{Access: accessTo("shop"), Tags: true}
				first := s.reader(o)
				mine.follow(t, first, 0)
				s.graph.Update(func() { s.graph.Remove(s.source, "shop", "p7") })
				s.graph.Update(func() { s.lens.Forget(s.lens.Head()) })
				for s.graph.HasCleanup() {
					s.graph.Update(func() {})
				}
				if !knows {
					o.Access = accessTo("shop")
				}
				if o.Since = mine.rev; have {
					o.Have = mine.sums()
				}
				mine.sets = 0
				mine.follow(t, s.reader(o), 0)
				if mine.resets > 0 == have || mine.sets > 100 == have {
					t.Errorf("%d resets and %d elements", mine.resets, mine.sets)
				}
				mine.equals(t, s, o)
			})
		}
	}
}
