package delivery

import (
	"errors"
	"fmt"
	"testing"

	"graphview.dev/graphview/graph"
)

// TestPollWhileAside: while a view's lens is committed aside, a Poll returns at once with
// nothing, also one that began before; afterwards the subscriber is sent what changed.
func TestPollWhileAside(t *testing.T) {
	const large = 1_000
	s := newStage(t)
	names := make([]string, large)
	for i := range names {
		names[i] = fmt.Sprint("web-", i)
	}
	s.set("Running", false, names...)
	r := s.reader(SubscribeOptions{Content: KeysOnly})
	defer r.Close()
	r.catchUp(t)
	who, err := r.viewer()
	if err != nil || len(r.vertices) != large {
		t.Fatalf("%d vertices, %v", len(r.vertices), err)
	}
	aside := 0
	s.graph.ObserveLenses(func(l *graph.Lens, _ uint64) {
		if l.Aside() == nil {
			return
		}
		aside++
		if frames, err := r.Poll(); err != nil || len(frames) > 0 {
			t.Errorf("a Poll has %d messages, %v", len(frames), err)
		}
		if _, _, err := r.publisher.next(l, r.state, who); !errors.Is(err, graph.ErrAside) {
			t.Errorf("a Poll that had begun ends with %v", err)
		}
	})
	s.graph.Update(func() { s.lens.Unuse(graph.Kind{Kind: "Pod"}) })
	if aside != 1 {
		t.Fatalf("committed aside %d times, want once", aside)
	}
	r.catchUp(t)
	if len(r.vertices) != 0 {
		t.Errorf("%d vertices are left", len(r.vertices))
	}
}
