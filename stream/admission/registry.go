package admission

import (
	"context"
	"sync"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

var (
	openGraphs = budget.Declare("open_graphs", "graphs that are being sent at once", 10_000)
	userGraphs = budget.Declare("open_graphs_per_user", "graphs that are being sent at once to one user, or to the ServiceAccounts of one namespace", 1000)
	userMuxes  = budget.Declare("mux_connections_per_user", "connections for many graphs at once of one user, or of the ServiceAccounts of one namespace", 200)
	idleMuxes  = budget.Declare("idle_mux_connections", "connections for many graphs that have none", 2000)
)

// MaxGraphs is the default of NewRegistry's bound.
func MaxGraphs() int { return int(openGraphs.Limit()) }

// Registry records all streams, bounds them per owner and in all, and ends them when the
// server stops.
type Registry struct {
	maxGraphs int64
	graphs    *budget.Shares[budget.Owner]
	muxes     *budget.Shares[budget.Owner]

	mu      sync.Mutex
	streams map[*Stream]struct{}
	sending int64 // graphs
	idle    int64 // muxes without a channel
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
		maxGraphs: int64(maxGraphs), graphs: budget.NewShares[budget.Owner](userGraphs), muxes: budget.NewShares[budget.Owner](userMuxes),
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
	if err := r.takeGraphLocked(owner); err != nil {
		return nil, err
	}
	return r.addLocked(ctx, owner, false), nil
}

// ReserveMux records a connection for many graphs under ctx. The caller releases it.
func (r *Registry) ReserveMux(ctx context.Context, owner budget.Owner) (*Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return nil, r.stopped
	}
	if !hasRoom(r.muxes.Held(owner), idleMuxes.Limit()-r.idle) {
		return nil, idleMuxes.Exceed()
	}
	if err := r.muxes.Take(owner, 1); err != nil {
		return nil, err
	}
	r.idle++
	return r.addLocked(ctx, owner, true), nil
}

func (r *Registry) addLocked(ctx context.Context, owner budget.Owner, mux bool) *Stream {
	s := &Stream{registry: r, owner: owner, mux: mux}
	s.Hard, s.Kill = context.WithCancel(ctx)
	s.Ctx, s.End = context.WithCancelCause(s.Hard)
	r.streams[s] = struct{}{}
	return s
}

func (r *Registry) takeGraphLocked(owner budget.Owner) error {
	if !hasRoom(r.graphs.Held(owner), r.maxGraphs-r.sending) {
		return openGraphs.Exceed()
	}
	if err := r.graphs.Take(owner, 1); err != nil {
		return err
	}
	r.sending++
	return nil
}

// ReserveChannel takes a place for one more graph on a mux.
func (s *Stream) ReserveChannel() error {
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.takeGraphLocked(s.owner); err != nil {
		return err
	}
	if s.channels == 0 {
		r.idle--
	}
	s.channels++
	return nil
}

// ReleaseChannel returns a place.
func (s *Stream) ReleaseChannel() {
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	s.channels--
	if s.channels == 0 {
		r.idle++
	}
	r.sending--
	r.graphs.Give(s.owner, 1)
}

// Release returns everything that was reserved. The channels of a mux are released before.
func (s *Stream) Release() {
	// Frees what the parents of the contexts hold.
	s.End(context.Canceled)
	s.Kill()
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.mux {
		r.idle--
		r.muxes.Give(s.owner, 1)
	} else {
		r.sending--
		r.graphs.Give(s.owner, 1)
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
	return len(r.streams), int(r.sending)
}
