package delivery

import (
	"errors"
	"fmt"
	"testing"

	"graphview.dev/graphview/graph"
)

// lateStage is a stage with a lens of another view, which has its turn first.
type lateStage struct {
	*stage

	other *graph.Lens
	shows bool // what the other lens does with its pods
}

func newLateStage(t *testing.T) *lateStage {
	t.Helper()
	const large = 16_000
	s := &lateStage{stage: newStage(t), shows: true}
	s.other = s.lens
	s.update(func() {
		s.lens = s.graph.NewLens()
		s.lens.Watch(s.source)
		s.lens.Use(graph.Kind{Kind: "Pod"}, pods)
		for i := range large {
			name := fmt.Sprint("other-", i)
			s.other.Select(s.graph.Set(s.source, &graph.Object{Namespace: "shop", Name: name, UID: name, Version: 1, Hash: 1}), graph.Selection{Member: true})
		}
	})
	s.publisher.SetLens(s.lens)
	return s
}

// leaveLate makes a revision with a change of the lens, which is late after it: the other lens takes all the time of the
// revision. The next revision commits the lens.
func (s *lateStage) leaveLate(t *testing.T, change func()) {
	t.Helper()
	s.shows = !s.shows
	s.update(func() {
		if change(); s.shows {
			s.other.Use(graph.Kind{Kind: "Pod"}, pods)
		} else {
			s.other.Unuse(graph.Kind{Kind: "Pod"})
		}
	})
	if s.lens.Committing() == nil {
		t.Fatal("the lens is not late")
	}
}

// TestPollWhileLate: while a view's lens is late, a Poll returns at once without changes, even if it began before.
// Afterwards the subscriber gets the changes.
func TestPollWhileLate(t *testing.T) {
	s := newLateStage(t)
	s.set("Running", false, podNames(10)...)
	r := s.reader(SubscribeOptions{Content: KeysOnly})
	defer r.Close()
	r.catchUp(t)
	who := r.viewer()
	if len(r.vertices) != 10 {
		t.Fatalf("%d vertices", len(r.vertices))
	}
	s.leaveLate(t, func() { s.lens.Unuse(graph.Kind{Kind: "Pod"}) })
	if frames, err := r.Poll(); err != nil || len(frames) > 0 {
		t.Errorf("a Poll has %d messages, %v", len(frames), err)
	}
	if _, _, err := r.publisher.next(s.lens, r.state, nil, who); !errors.Is(err, graph.ErrCommitting) {
		t.Errorf("a Poll that had begun ends with %v", err)
	}
	s.update(func() {})
	r.catchUp(t)
	if len(r.vertices) != 0 {
		t.Errorf("%d vertices are left", len(r.vertices))
	}
}

// TestPollThatMissedTooMuch: a subscriber that finds its view late each time that it asks, because it runs too late
// after each commit, gets the changes while the writer makes one revision after the other.
func TestPollThatMissedTooMuch(t *testing.T) {
	const most = 1_000
	for name, o := range map[string]SubscribeOptions{
		"the whole graph": {},
		"a part":          {Narrow: &graph.Narrowing{Roots: []graph.Key{{Resource: pods, Namespace: "shop", Name: "web-0"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLateStage(t)
			s.set("Running", false, "web-0", "web-1")
			r := s.reader(o)
			defer r.Close()
			r.catchUp(t)
			polled := make(chan int, 1)
			for i := range most {
				s.leaveLate(t, func() {
					o := &fakeObject{uid: "uid-web-0", json: fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"}}`, s.revision)}
					s.show(&graph.Object{Namespace: "shop", Name: "web-0", Payload: o}, graph.Selection{Member: true})
				})
				switch {
				case i < maxCommitWaits:
					if frames, err := r.Poll(); err != nil || len(frames) > 0 {
						t.Errorf("a Poll has %d messages, %v", len(frames), err)
					}
				case i == maxCommitWaits:
					go func() { // it may wait for the writer, which is here
						for { // a Poll between two commits is one more that finds nothing
							if frames, err := r.Poll(); err != nil || len(frames) > 0 {
								if err != nil {
									t.Error(err)
								}
								polled <- len(frames)
								return
							}
						}
					}()
				}
				s.update(func() {})
				select {
				case n := <-polled:
					if n == 0 {
						t.Errorf("after %d commits that it found, a Poll has nothing", i)
					}
					return
				default:
				}
			}
			t.Errorf("a Poll has waited for %d revisions", most)
		})
	}
}
