package admission

import (
	"context"
	"sync"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

const (
	// fewGraphs is the number of graphs that each owner may have as long as any is free.
	fewGraphs = 16
	// freeShare bounds the further graphs of one owner to one in freeShare of the free
	// ones.
	freeShare = 8
)

// idleMuxes is the number of connections for many graphs that may have none at the same time.
const idleMuxes = 2000

// MaxGraphs returns the default of NewRegistry's bound.
func MaxGraphs() int { return int(budget.OpenGraphs.Limit()) }

// Registry records all streams, bounds them per owner and in all, and ends them when the
// server stops.
type Registry struct {
	maxGraphs int64
	idleMux   int64 // places of a mux without a channel

	mu      sync.Mutex
	streams map[*Stream]struct{}
	places  map[budget.Owner]int64 // by owner; a mux without a channel takes more than one
	all     int64                  // the sum of places
	graphs  int
	stopped *delivery.ClosedError
	ended   chan struct{}
}

// Stream is one response or connection on which graphs are sent.
type Stream struct {
	// Ctx is done when sending should end. Its cause is a *delivery.ClosedError if the peer
	// should be sent the reason.
	Ctx context.Context
	// Hard is done when nothing more can be sent to the peer. It outlives Ctx.
	Hard context.Context
	End  context.CancelCauseFunc
	Kill context.CancelFunc

	registry *Registry
	owner    budget.Owner
	mux      bool // its graphs are reserved one by one
	channels int  // of a mux; registry.mu guards them
}

// NewRegistry returns a registry of at most maxGraphs graphs.
func NewRegistry(maxGraphs int) *Registry {
	return &Registry{
		maxGraphs: int64(maxGraphs), idleMux: max(1, int64(maxGraphs/idleMuxes)), places: map[budget.Owner]int64{},
		streams: map[*Stream]struct{}{}, ended: make(chan struct{}),
	}
}

// Reserve records a stream of one graph under ctx. The caller releases it.
func (r *Registry) Reserve(ctx context.Context, owner budget.Owner) (*Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return nil, r.stopped
	}
	if err := r.takeLocked(owner, 1); err != nil {
		return nil, err
	}
	r.graphs++
	return r.addLocked(ctx, owner, false), nil
}

// ReserveMux records a connection for many graphs under ctx. The caller releases it.
func (r *Registry) ReserveMux(ctx context.Context, owner budget.Owner) (*Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return nil, r.stopped
	}
	if err := r.takeLocked(owner, r.idleMux); err != nil {
		return nil, err
	}
	return r.addLocked(ctx, owner, true), nil
}

func (r *Registry) addLocked(ctx context.Context, owner budget.Owner, mux bool) *Stream {
	s := &Stream{registry: r, owner: owner, mux: mux}
	s.Hard, s.Kill = context.WithCancel(ctx)
	s.Ctx, s.End = context.WithCancelCause(s.Hard)
	r.streams[s] = struct{}{}
	return s
}

func (r *Registry) takeLocked(owner budget.Owner, places int64) error {
	if err := budget.OpenGraphs.Admit(r.places[owner], r.maxGraphs-r.all, fewGraphs, freeShare); err != nil {
		return err //nolint:wrapcheck // the caller adds the remedy
	}
	r.countLocked(owner, places)
	return nil
}

func (r *Registry) countLocked(owner budget.Owner, places int64) {
	r.all += places
	if r.places[owner] += places; r.places[owner] == 0 {
		delete(r.places, owner)
	}
}

// ReserveChannel takes a place for one more graph on a mux.
func (s *Stream) ReserveChannel() error {
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	// The first graph takes places of the mux.
	if s.channels == 0 {
		r.countLocked(s.owner, 1-r.idleMux)
	} else if err := r.takeLocked(s.owner, 1); err != nil {
		return err
	}
	s.channels++
	r.graphs++
	return nil
}

// ReleaseChannel returns a place.
func (s *Stream) ReleaseChannel() {
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	s.channels--
	r.graphs--
	r.countLocked(s.owner, -1)
	if s.channels == 0 {
		r.countLocked(s.owner, r.idleMux)
	}
}

// Release returns everything that was reserved. The channels of a mux are released before.
func (s *Stream) Release() {
	// This removes the contexts from their parents.
	s.End(context.Canceled)
	s.Kill()
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.mux {
		r.countLocked(s.owner, -r.idleMux)
	} else {
		r.graphs--
		r.countLocked(s.owner, -1)
	}
	delete(r.streams, s)
	if r.stopped != nil && len(r.streams) == 0 {
		close(r.ended)
	}
}

// Stop ends all streams and admits no more. The channel is closed when the last one has
// been released. Stop is called once.
func (r *Registry) Stop(reason *delivery.ClosedError) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = reason
	for s := range r.streams {
		s.End(reason)
	}
	if len(r.streams) == 0 {
		close(r.ended)
	}
	return r.ended
}

// Kill cuts the streams that have not been released.
func (r *Registry) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.streams {
		s.Kill()
	}
}

// Open returns how many streams and graphs are open.
func (r *Registry) Open() (streams, graphs int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.streams), r.graphs
}
