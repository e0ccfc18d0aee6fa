package writer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/graph"
)

var (
	configMap  = graph.Kind{Kind: "ConfigMap"}
	configMaps = graph.Resource{Version: "v1", Resource: "configmaps"}
)

// world is a graph of ConfigMaps with a writer that runs until the test ends.
type world struct {
	*Writer

	graph  *graph.Graph
	source graph.SourceID
	number uint64 // of the last object
}

// start runs a writer, which calls afterRevision.
func start(t *testing.T, afterRevision ...func()) *world {
	t.Helper()
	g := graph.New(nil)
	w := &world{Writer: New(g), graph: g}
	for _, f := range afterRevision {
		w.AfterRevision(f)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	w.Do(func() { w.source = g.AddSource(configMap, configMaps, graph.ScopeNamespaced) })
	return w
}

// set changes an object of that name. In an event.
func (w *world) set(name string, references ...graph.Reference) graph.NodeID {
	w.number++
	return w.graph.Set(w.source, &graph.Object{Namespace: "shop", Name: name, UID: "u", Version: w.number, Hash: w.number, References: references})
}

// visit makes the graph visit about that many elements. In an event.
func (w *world) visit(name string, elements int) {
	references := make([]graph.Reference, elements)
	for i := range references {
		references[i] = graph.Reference{Type: graph.Direct, To: configMap, Namespace: "shop", Name: fmt.Sprint("c", i)}
	}
	w.set(name, references...)
}

// hold makes the writer wait until release is called, so that events gather.
func (w *world) hold() (release func()) {
	held := make(chan struct{})
	w.Send(Func(func() { <-held }))
	return func() { close(held) }
}

// TestRevisionsAreBounded: a batch becomes as many revisions as it takes for none to have many
// more visits than allowed.
func TestRevisionsAreBounded(t *testing.T) {
	applied := 0
	var revisions []int
	w := start(t, func() {
		if applied > 0 {
			revisions = append(revisions, applied)
		}
		applied = 0
	})
	release := w.hold()
	for i := range 5 {
		w.Send(Func(func() {
			w.visit(fmt.Sprint("o", i), maxVisits*2/3-1)
			applied++
		}))
	}
	release()
	w.Do(func() {})
	var got []int
	w.Do(func() { got = revisions })
	if fmt.Sprint(got) != "[2 2 1]" {
		t.Errorf("revisions of %v events, want [2 2 1]", got)
	}
}

// TestBackground: one bounded step of the background runs between two batches. Its chunks come first
// in, first out.
func TestBackground(t *testing.T) {
	w := start(t)
	var did []string
	part := func(chunk, part string, after func()) Event {
		return Func(func() {
			did = append(did, chunk+part)
			w.visit(chunk+part, stepVisits)
			after()
		})
	}
	var second sync.WaitGroup
	first := []Event{part("a", "0", func() {
		second.Go(func() { w.Background([]Event{part("b", "0", func() {})}) })
		w.Send(Func(func() { did = append(did, "event") }))
	}), part("a", "1", func() {}), part("a", "2", func() {})}
	w.Background(first)
	second.Wait()
	w.Background(nil)
	if got, want := fmt.Sprint(did), "[a0 event a1 a2 b0]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDo: Do returns when a reader can see the revision.
func TestDo(t *testing.T) {
	w := start(t)
	for i := range 100 {
		w.Do(func() { w.set(fmt.Sprint("o", i)) })
		if n := w.graph.Size().Nodes; n != i+1 {
			t.Fatalf("%d objects, want %d", n, i+1)
		}
	}
}

// TestTry: Try returns an error if its context ends before the writer gets to the event.
func TestTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		if err := w.Try(t.Context(), func() {}); err != nil {
			t.Errorf("an idle writer: %v", err)
		}
		release := w.hold()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range cap(w.events) {
			w.Send(Func(func() {}))
		}
		if err := w.Try(ctx, func() {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a writer that takes no events: %v", err)
		}
		release()
		w.Do(func() {})
	})
}

// TestLapse: an object that may not stay as it is gets its next class, although events keep coming.
func TestLapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		l := w.lens()
		w.Do(func() {
			l.Select(w.graph.Set(w.source, &graph.Object{
				Namespace: "shop", Name: "o", UID: "u", Version: 1, Hash: 1, Class: 1, LapsesTo: 2, LapsesAt: time.Now().Unix() + 1,
			}), graph.Selection{Member: true})
		})
		for range 2 * lapseInterval / time.Second {
			w.Send(Func(func() {}))
			time.Sleep(time.Second)
		}
		if classes := l.Classes(); classes[1] != 0 || classes[2] != 1 {
			t.Errorf("classes %v, want one object of the next class", classes)
		}
	})
}

// lens adds a lens that shows the objects that are selected.
func (w *world) lens() (l *graph.Lens) {
	w.Do(func() {
		l = w.graph.NewLens()
		l.Watch(w.source)
		l.Use(configMap, configMaps)
	})
	return l
}
