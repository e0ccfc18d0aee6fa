package stream

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/spec"
)

// fakeCluster is what a test serves.
type fakeCluster []*fakeView

func (g fakeCluster) Find(name graphview.Name) (View, bool) {
	for _, view := range g {
		if view.name == name {
			return view, true
		}
	}
	return nil, false
}

func (g fakeCluster) List() []View {
	var views []View
	for _, view := range g {
		views = append(views, view)
	}
	return views
}

// Open returns the first view for any spec that compiles.
func (g fakeCluster) Open(ctx context.Context, o graphview.OpenOptions) (View, func(), error) {
	if _, err := spec.Compile(ctx, nil, o.Spec); err != nil {
		return nil, nil, err
	}
	if len(g) == 0 {
		return nil, nil, &delivery.ClosedError{Reason: reason.LimitExceeded, Message: "too many"}
	}
	g[0].opened = o.Spec
	return g[0], func() {}, nil
}

// fakeView is a view whose subscriptions say what the test tells them to.
type fakeView struct {
	name   graphview.Name
	uid    string
	err    error
	status graphview.Status
	// wait is WaitSynced; nil: synced.
	wait func(ctx context.Context) error
	// opened is what Open was called with.
	opened v1alpha1.GraphViewSpec
	// found is what Find does.
	found *delivery.Found
	// panics makes Subscribe do so.
	panics bool
	// since is the beginning of the history, 0 for none, and gaps are those in it.
	since int64
	gaps  []history.Gap
	// subscribed gets each subscription.
	subscribed chan *fakeSubscription
}

func newView(name string) *fakeView {
	namespace, name, _ := strings.Cut(name, "/")
	return &fakeView{
		name: graphview.Name{Namespace: namespace, Name: name}, uid: "uid-" + name,
		status:     graphview.Status{Vertices: 3, Arcs: 2, Roots: 1, Subscribers: 4, Synced: true},
		subscribed: make(chan *fakeSubscription, 16),
	}
}

// Changes: a fakeView has no history of changes.
func (v *fakeView) Changes(context.Context, delivery.ChangesQuery, delivery.Access) (*delivery.Changes, error) {
	return nil, graphview.ErrNoHistory
}

// Past is that of a history that begins with since, if there is one.
func (v *fakeView) Past(int64) (*delivery.Past, int64, error) {
	if v.since == 0 {
		return nil, 0, graphview.ErrNoHistory
	}
	return &delivery.Past{}, v.since, nil
}
func (v *fakeView) Gaps(int64) []history.Gap { return v.gaps }

func (v *fakeView) Name() graphview.Name     { return v.name }
func (v *fakeView) UID() string              { return v.uid }
func (v *fakeView) Err() error               { return v.err }
func (v *fakeView) Status() graphview.Status { return v.status }

func (v *fakeView) WaitSynced(ctx context.Context) error {
	if v.wait == nil {
		return nil
	}
	return v.wait(ctx)
}

func (v *fakeView) Find(context.Context, graph.Key, delivery.Access) (*delivery.Found, error) {
	return v.found, v.err
}

func (v *fakeView) Subscribe(o delivery.SubscribeOptions) Subscription {
	if v.panics {
		panic("content of an object")
	}
	s := newSubscription(o.Since, o.Access)
	s.content, s.narrow, s.joins = o.Content, o.Narrow, o.JoinWalk
	if s.tags = o.Tags; o.Have != nil {
		s.have = o.Have.String()
	}
	v.subscribed <- s
	return s
}

type answer struct {
	frames []*delivery.Frame
	err    error
}

type fakeSubscription struct {
	since   string
	access  delivery.Access
	content delivery.Content
	narrow  *graph.Narrowing
	joins   bool
	have    string // the sums, "" for none
	tags    bool
	answers chan answer
	waited  []answer
	once    sync.Once
	closed  chan struct{}
}

func newSubscription(since string, access delivery.Access) *fakeSubscription {
	return &fakeSubscription{since: since, access: access, answers: make(chan answer, 64), closed: make(chan struct{})}
}

func (s *fakeSubscription) send(frames ...*delivery.Frame) { s.answers <- answer{frames: frames} }
func (s *fakeSubscription) fail(err error)                 { s.answers <- answer{err: err} }

// end sends a whole graph, after which the view is deleted.
func (s *fakeSubscription) end() {
	s.send(frame("r", true, nil))
	s.fail(&delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"})
}

func (s *fakeSubscription) Next(ctx context.Context) ([]*delivery.Frame, error) {
	select {
	case a := <-s.answers:
		return a.frames, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *fakeSubscription) Poll() ([]*delivery.Frame, delivery.Wait, error) {
	if len(s.waited) > 0 {
		a := s.waited[0]
		s.waited = s.waited[1:]
		return a.frames, s.wait, a.err
	}
	select {
	case a := <-s.answers:
		return a.frames, s.wait, a.err
	default:
		return nil, s.wait, nil
	}
}

func (s *fakeSubscription) wait(ctx context.Context) error {
	select {
	case a := <-s.answers:
		s.waited = append(s.waited, a)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *fakeSubscription) Close() { s.once.Do(func() { close(s.closed) }) }

// frame makes a message. The strings in actions and warnings are JSON.
func frame(rev string, synced bool, actions []string, warnings ...string) *delivery.Frame {
	f := &delivery.Frame{
		Actions: []byte(strings.Join(actions, ",")), Warnings: []byte(strings.Join(warnings, ",")), Rev: rev, Synced: synced,
	}
	raw := func(all []string) []json.RawMessage {
		var list []json.RawMessage
		for _, one := range all {
			list = append(list, json.RawMessage(one))
		}
		return list
	}
	f.JSON = encode(struct {
		Actions  []json.RawMessage `json:"actions,omitempty"`
		Warnings []json.RawMessage `json:"warnings,omitempty"`
		Rev      string            `json:"rev,omitempty"`
		Synced   bool              `json:"synced,omitempty"`
	}{raw(slices.Clone(actions)), raw(warnings), rev, synced})
	return f
}

// withReset returns the frame as the first after a reset.
func withReset(f *delivery.Frame) *delivery.Frame {
	f.Reset = true
	f.JSON = append([]byte(`{"reset":true,`), f.JSON[1:]...)
	return f
}

// withKinds returns the frame with kinds, which are JSON.
func withKinds(f *delivery.Frame, kinds string) *delivery.Frame {
	f.Kinds = []byte(kinds)
	f.JSON = append([]byte(`{"kinds":[`+kinds+`],`), f.JSON[1:]...)
	return f
}
