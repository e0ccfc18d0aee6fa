package delivery

import (
	"errors"
	"fmt"
	"testing"

	"graphview.dev/graphview/graph"
)

// TestPollWhileLate: while a view's lens is committed with the graph unlocked, a Poll returns at once
// without changes, even if it began before. Afterwards the subscriber gets the changes.
func TestPollWhileLate(t *testing.T) {
	const large = 8_000
	s := newStage(t)
	names := make([]string, large)
	for i := range names {
		names[i] = fmt.Sprint("web-", i)
	}
	s.set("Running", false, names...)
	r := s.reader(SubscribeOptions{Content: KeysOnly})
	defer r.Close()
	r.catchUp(t)
	who := r.viewer()
	if len(r.vertices) != large {
		t.Fatalf("%d vertices", len(r.vertices))
	}
	aside := 0
	s.graph.ObserveLenses(func(l *graph.Lens, _ uint64) bool {
		if l.Committing() == nil {
			return true
		}
		aside++
		if frames, err := r.Poll(); err != nil || len(frames) > 0 {
			t.Errorf("a Poll has %d messages, %v", len(frames), err)
		}
		if _, _, err := r.publisher.next(l, r.state, nil, who); !errors.Is(err, graph.ErrCommitting) {
			t.Errorf("a Poll that had begun ends with %v", err)
		}
		return true
	})
	s.graph.Update(func() { s.lens.Unuse(graph.Kind{Kind: "Pod"}) })
	if aside != 1 {
		t.Fatalf("committed with the graph unlocked %d times, want once", aside)
	}
	r.catchUp(t)
	if len(r.vertices) != 0 {
		t.Errorf("%d vertices are left", len(r.vertices))
	}
}

// TestPollThatMissedTooMuch: the writer makes one revision after the other, and the goroutine of a subscriber always
// runs so late that the view is being committed again. The subscriber gets all changes nevertheless.
func TestPollThatMissedTooMuch(t *testing.T) {
	const large, most = 8_000, 100_000
	for name, o := range map[string]SubscribeOptions{
		"the whole graph": {},
		"a part":          {Narrow: &graph.Narrowing{Roots: []graph.Key{{Resource: pods, Namespace: "shop", Name: "web-0"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			names := make([]string, large)
			for i := range names {
				names[i] = fmt.Sprint("web-", i)
			}
			s.set("Running", false, names...)
			r := s.reader(o)
			defer r.Close()
			r.catchUp(t)
			missed, polled := 0, make(chan int, 1)
			s.graph.ObserveLenses(func(l *graph.Lens, _ uint64) bool {
				switch {
				case l.Committing() == nil:
					t.Error("the view is not committed with the graph unlocked")
				case missed < maxCommitWaits:
					missed++
					if frames, err := r.Poll(); err != nil || len(frames) > 0 {
						t.Errorf("a Poll has %d messages, %v", len(frames), err)
					}
				case missed == maxCommitWaits:
					missed++
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
				return true
			})
			for i := range most {
				select {
				case n := <-polled:
					if n == 0 {
						t.Errorf("after %d commits that it found, a Poll has nothing", missed)
					}
					return
				default:
				}
				s.graph.Update(func() {
					o := &fakeObject{uid: "uid-web-0", json: fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"}}`, s.revision)}
					s.show(&graph.Object{Namespace: "shop", Name: "web-0", Payload: o}, graph.Selection{Member: true})
					s.lens.SetInferred(i%2 == 1)
				})
			}
			t.Errorf("a Poll has waited for %d revisions", most)
		})
	}
}
