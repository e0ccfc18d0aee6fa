package delivery

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// walkObjects of walkSize are several pieces.
const walkObjects, walkSize = 100, 4 << 10

// largeStage has as many objects that a graph of them is several pieces.
func largeStage(tb testing.TB) (s *stage, names []string) {
	tb.Helper()
	s, names = newStage(tb), podNames(walkObjects)
	s.set("Running"+strings.Repeat("x", walkSize), false, names...)
	return s, names
}

// together has readers read a piece each, again and again, until all have the whole graph.
func together(tb testing.TB, readers ...*reader) {
	tb.Helper()
	for more := true; more; {
		more = false
		for _, r := range readers {
			if r.rev == "" {
				r.poll(tb)
				more = true
			}
		}
	}
}

// TestConcurrentSubscribersSharePieces: subscribers that begin within a second share encoded
// pieces although the graph changes between them, and all end with the current graph. In fake time they begin within
// a second on a busy machine as well.
func TestConcurrentSubscribersSharePieces(t *testing.T) {
	for name, since := range map[string]string{"anew": "", "after a revision of another process": "x.y"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, names := largeStage(t)
				alone := s.reader(SubscribeOptions{})
				before := s.publisher.o.Shared.Encodings()
				alone.catchUp(t)
				one := s.publisher.o.Shared.Encodings() - before
				before += one
				const readers = 50
				all := make([]*reader, readers)
				for i := range all {
					all[i] = s.reader(SubscribeOptions{JoinWalk: true, Since: since})
					all[i].poll(t)
					s.set("Failed", false, names[i%7])
					if i%10 == 0 {
						s.remove(names[walkObjects-1-i/10])
					}
				}
				together(t, all...)
				if n := s.publisher.o.Shared.Encodings() - before; n > 3*one {
					t.Errorf("%d encodings for %d readers, and %d for one", n, readers, one)
				}
				alone.catchUp(t)
				for i, r := range all {
					r.catchUp(t)
					if !maps.Equal(r.vertices, alone.vertices) || r.rev != alone.rev {
						t.Errorf("reader %d has %d vertices at %s, want %d at %s", i, len(r.vertices), r.rev, len(alone.vertices), alone.rev)
					}
				}
				keptIsCounted(t, s.publisher)
			})
		})
	}
}

// TestWalksOfReadersAgree: readers begin at any time, some too late for a walk, go on at any
// pace while the graph changes, and end with the graph.
func TestWalksOfReadersAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		s, names := largeStage(t)
		var all []*reader
		for range 300 {
			switch random.IntN(4) {
			case 0:
				r := s.reader(SubscribeOptions{JoinWalk: random.IntN(5) > 0, Content: Content(random.IntN(3))})
				all = append(all, r)
			case 1:
				s.set(fmt.Sprint("Phase", random.IntN(9), strings.Repeat("y", random.IntN(walkSize))), false, names[random.IntN(len(names))])
			case 2:
				s.remove(names[random.IntN(len(names))])
			default:
				time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
			}
			for range 3 {
				if len(all) > 0 {
					all[random.IntN(len(all))].poll(t)
				}
			}
		}
		want := map[Content]*reader{}
		for _, content := range []Content{WholeObject, SummaryOnly, KeysOnly} {
			want[content] = s.reader(SubscribeOptions{Content: content})
			want[content].catchUp(t)
		}
		for i, r := range all {
			r.catchUp(t)
			if !maps.Equal(r.vertices, want[r.wanted.content].vertices) {
				t.Errorf("reader %d has %d vertices, want %d", i, len(r.vertices), len(want[r.wanted.content].vertices))
			}
			r.Close()
		}
	})
}

// TestSnapshotSharesNoWalk: what is read once is the graph as it is when it is asked for,
// while others are being sent it.
func TestSnapshotSharesNoWalk(t *testing.T) {
	s, names := newStage(t), []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	s.set("Running"+strings.Repeat("x", walkSize), false, names...)
	together(t, s.reader(SubscribeOptions{JoinWalk: true}), s.reader(SubscribeOptions{JoinWalk: true}))
	s.set("Failed", false, "a")
	s.remove("b")
	once := s.reader(SubscribeOptions{})
	together(t, once)
	if _, there := once.vertices["b"]; there || !strings.Contains(once.vertices["a"], "Failed") || len(once.vertices) != len(names)-1 {
		t.Errorf("%d vertices, of which one should have failed: %.200s", len(once.vertices), once.vertices["a"])
	}
}

// TestWalkThatIsTooOld: if the tombstones since the beginning of a walk have been dropped, a
// reader begins its own walk, and no reader joins the old one.
func TestWalkThatIsTooOld(t *testing.T) {
	s, names := largeStage(t)
	synctest.Test(t, func(t *testing.T) { // so that a second does not pass
		all := []*reader{s.reader(SubscribeOptions{JoinWalk: true}), s.reader(SubscribeOptions{JoinWalk: true})}
		for _, r := range all {
			r.poll(t)
		}
		s.remove(names[0])
		s.graph.Update(func() { s.lens.Forget(s.lens.Head()) })
		for s.graph.Update(func() {}); s.graph.HasCleanup(); s.graph.Update(func() {}) {
		}
		all = append(all, s.reader(SubscribeOptions{JoinWalk: true}))
		for range walkObjects {
			for _, r := range all {
				r.poll(t)
			}
		}
		for i, r := range all {
			if r.rev == "" || len(r.vertices) != walkObjects-1 {
				t.Errorf("reader %d has %d vertices at %q, want %d", i, len(r.vertices), r.rev, walkObjects-1)
			}
			r.Close()
		}
	})
}

// TestWalkIsJoinedForASecond: readers join a walk for a second after it began.
func TestWalkIsJoinedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := largeStage(t)
		var all []*reader
		for _, after := range []time.Duration{0, walkJoinable - 1, 1, walkJoinable - 1} {
			time.Sleep(after)
			r := s.reader(SubscribeOptions{JoinWalk: true})
			r.poll(t)
			all = append(all, r)
		}
		if all[0].walk != all[1].walk || all[1].walk == all[2].walk || all[2].walk != all[3].walk {
			t.Errorf("walks are %p, %p, %p and %p", all[0].walk, all[1].walk, all[2].walk, all[3].walk)
		}
		for _, r := range all {
			r.Close()
		}
	})
}

// TestOnlyEqualReadersShareAWalk: only readers with equal rights share a walk.
func TestOnlyEqualReadersShareAWalk(t *testing.T) {
	s, _ := largeStage(t)
	sees, blind := fixedAccess{{Resource: "pods"}: true}, fixedAccess{}
	var all []*reader
	for i := range 6 {
		access := sees
		if i%2 > 0 {
			access = blind
		}
		all = append(all, s.reader(SubscribeOptions{JoinWalk: true, Access: access}))
	}
	for range 10 {
		for _, r := range all {
			r.poll(t)
		}
	}
	for i, r := range all {
		r.catchUp(t)
		if want := (1 - i%2) * walkObjects; len(r.vertices) != want {
			t.Errorf("reader %d has %d vertices, want %d", i, len(r.vertices), want)
		}
	}
}
