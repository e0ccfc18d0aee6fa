package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// stage is a view without an engine: a graph, its lens, and a publisher of it.
type stage struct {
	graph     *graph.Graph
	source    graph.SourceID
	lens      *graph.Lens
	warnings  *Warnings
	publisher *Publisher
	state     *ViewState
	revision  uint64
	holding   sync.Mutex // guards held
	// held are the bytes of the view by use. most is the limit of the bytes of messages, 0 for no limit.
	held map[budget.Use]int64
	most int64
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	s := &stage{graph: graph.New(nil), held: make(map[budget.Use]int64)}
	s.warnings = NewWarnings(func() {})
	s.state = NewViewState()
	s.state.To(State{Phase: Serving})
	s.publisher = NewPublisher(PublisherOptions{
		Name: "shop/web", UID: "uid", Run: NewRun(), Shared: &Shared{}, Warnings: s.warnings, Logger: logr.Discard(),
		State: s.state, Notify: func() {}, Hold: s.hold,
	})
	s.graph.Update(func() {
		s.source = s.graph.AddSource(graph.Kind{Kind: "Pod"}, pods, graph.ScopeNamespaced)
		s.lens = s.graph.NewLens()
		s.lens.Watch(s.source)
		s.lens.Use(graph.Kind{Kind: "Pod"}, pods)
	})
	s.publisher.SetLens(s.lens)
	return s
}

func (s *stage) hold(use budget.Use, bytes int64) error {
	s.holding.Lock()
	defer s.holding.Unlock()
	if use == budget.Messages && s.most > 0 && bytes > max(s.most, s.held[use]) {
		return errors.New("more memory than is free")
	}
	s.held[use] = bytes
	return nil
}

// podNames returns so many names.
func podNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("p%04d", i)
	}
	return names
}

// set adds or updates pods with a phase; root makes them roots.
func (s *stage) set(phase string, root bool, names ...string) {
	s.graph.Update(func() {
		for _, name := range names {
			o := &fakeObject{uid: "uid-" + name, json: fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"resourceVersion":"%d"},"status":{"phase":%q}}`, name, s.revision+1, phase)}
			s.show(&graph.Object{Namespace: "shop", Name: name, Payload: o}, graph.Selection{Member: true, Root: root})
		}
	})
}

// put adds or updates a pod with some content, and references to other pods.
func (s *stage) put(name string, content Object, to ...string) {
	o := &graph.Object{Namespace: "shop", Name: name, Payload: content}
	for _, other := range to {
		o.References = append(o.References, graph.Reference{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "shop", Scope: graph.ScopeNamespaced, Name: other})
	}
	s.graph.Update(func() { s.show(o, graph.Selection{Member: true}) })
}

// show sets the next version of an object, and has the view decide about it. In Update.
func (s *stage) show(o *graph.Object, decision graph.Selection) {
	s.revision++
	o.UID, o.Version, o.Hash = o.Payload.(Object).UID(), s.revision, s.revision
	s.lens.Select(s.graph.Set(s.source, o), decision)
}

func (s *stage) remove(name string) {
	s.graph.Update(func() { s.graph.Remove(s.source, "shop", name) })
}

// reader applies what a subscription is sent.
type reader struct {
	*Subscription

	pause    pause             // after the last Poll
	vertices map[string]string // name → m, o or nothing
	arcs     map[string]bool   // from > to
	sent     int               // vertices that were set
	rev      string
	warnings map[WarningID]string
}

func (s *stage) reader(o SubscribeOptions) *reader {
	return &reader{Subscription: s.publisher.Subscribe(o), vertices: map[string]string{}, arcs: map[string]bool{}, warnings: map[WarningID]string{}}
}

func (r *reader) Poll() (frames []*Frame, err error) {
	frames, r.pause, err = r.Subscription.poll()
	return frames, err
}

func (r *reader) Wait(ctx context.Context) error { return r.waitFor(ctx, &r.pause) }

// twoReaders have all there is.
func (s *stage) twoReaders(tb testing.TB) (first, second *reader) {
	tb.Helper()
	first, second = s.reader(SubscribeOptions{}), s.reader(SubscribeOptions{})
	first.catchUp(tb)
	second.catchUp(tb)
	return first, second
}

// catchUp reads until there is nothing more.
func (r *reader) catchUp(tb testing.TB) {
	tb.Helper()
	for {
		frames, err := r.Poll()
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range frames {
			r.apply(tb, f)
		}
		if lens := r.publisher.Lens(); !r.pause.moved && r.pause.missing == nil && r.awaited == nil && (lens == nil || r.state.pos.Known == lens.Head()) {
			return
		}
		if err := r.Wait(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

func (r *reader) apply(tb testing.TB, f *Frame) {
	tb.Helper()
	type arc struct {
		From struct{ N string } `json:"s"`
		To   struct{ N string } `json:"d"`
	}
	var m struct {
		Actions []struct {
			SetArc    *arc `json:"sarc"`
			DeleteArc *arc `json:"darc"`
			Set       *struct {
				Vertex  struct{ N string } `json:"vx"`
				O, M, J json.RawMessage
			} `json:"svx"`
			Delete *struct {
				Vertex struct{ N string } `json:"vx"`
			} `json:"dvx"`
		}
		Warnings, Cleared []Warning
		Rev               string
		Reset             bool
	}
	if err := json.Unmarshal(f.JSON, &m); err != nil {
		tb.Fatalf("%v in %s", err, f.JSON)
	}
	if m.Reset {
		clear(r.vertices)
		clear(r.arcs)
		clear(r.warnings)
	}
	for _, a := range m.Actions {
		if a.Set != nil {
			r.sent++
			r.vertices[a.Set.Vertex.N] = string(a.Set.O) + string(a.Set.M) + string(a.Set.J)
		}
		if a.Delete != nil {
			delete(r.vertices, a.Delete.Vertex.N)
		}
		if a.SetArc != nil {
			r.arcs[a.SetArc.From.N+" > "+a.SetArc.To.N] = true
		}
		if a.DeleteArc != nil {
			delete(r.arcs, a.DeleteArc.From.N+" > "+a.DeleteArc.To.N)
		}
	}
	for _, w := range m.Cleared {
		delete(r.warnings, w.ID())
	}
	for _, w := range m.Warnings {
		r.warnings[w.ID()] = w.Message
	}
	if m.Rev != "" {
		r.rev = m.Rev
	}
}

// fixedAccess never changes.
type fixedAccess fixedRights

func (a fixedAccess) Rights() Rights { return fixedRights(a) }

func (a fixedAccess) Resolve(context.Context, []access.Place) error { return nil }

func (a fixedAccess) Changed() <-chan struct{} { return nil }
