package stream

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

var (
	openGraphs = budget.Declare("open_graphs", "graphs that are being sent at once", 10_000)
	userGraphs = budget.Declare("open_graphs_per_user", "graphs that are being sent at once to one user, or to the ServiceAccounts of one namespace", 1000)
	userMuxes  = budget.Declare("mux_connections_per_user", "connections for many graphs at once of one user, or of the ServiceAccounts of one namespace", 200)
	idleMuxes  = budget.Declare("idle_mux_connections", "connections for many graphs that have none", 2000)
)

const (
	// fewGraphs is what everybody may have for as long as there is room at all.
	fewGraphs = 16
	// freeShare is the part of what is free, one of so many, that one owner may
	// have of a thing already and still get more. So the last places are for those
	// who have few.
	freeShare = 8
)

// registry is the record of what is being sent, so that its amount is bounded, for
// each user and in all, and stopping can end and join it.
type registry struct {
	maxGraphs int64
	graphs    *budget.Shares[budget.Owner]
	muxes     *budget.Shares[budget.Owner]

	mu      sync.Mutex
	streams map[*stream]struct{}
	sending int64 // graphs
	idle    int64 // muxes without a channel
	stopped *delivery.ClosedError
	ended   chan struct{}
}

// stream is one response or connection on which graphs are sent.
type stream struct {
	// ctx is done when sending should end; its cause is a *delivery.ClosedError
	// if the peer is to be told.
	ctx context.Context
	// hard is done when the peer cannot be told any more. It outlives ctx.
	hard context.Context
	end  context.CancelCauseFunc
	kill context.CancelFunc

	registry *registry
	owner    budget.Owner
	mux      bool // its graphs are reserved one by one
	channels int  // of a mux; registry.mu guards them
	released func()
}

func newRegistry(maxGraphs int) *registry {
	return &registry{
		maxGraphs: int64(maxGraphs), graphs: budget.NewShares[budget.Owner](userGraphs), muxes: budget.NewShares[budget.Owner](userMuxes),
		streams: map[*stream]struct{}{}, ended: make(chan struct{}),
	}
}

// reserve records a stream of one graph, under ctx, or returns a Status. It must be
// released.
func (r *registry) reserve(ctx context.Context, who user.Info) (*stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return nil, apierrors.NewServiceUnavailable(r.stopped.Message)
	}
	owner := budget.UserOwner(who)
	if err := r.takeGraphLocked(owner); err != nil {
		return nil, tooMany(err)
	}
	return r.addLocked(ctx, owner, false), nil
}

// reserveMux does the same for a connection for many graphs.
func (r *registry) reserveMux(ctx context.Context, who user.Info) (*stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return nil, apierrors.NewServiceUnavailable(r.stopped.Message)
	}
	owner := budget.UserOwner(who)
	if !room(r.muxes.Held(owner), idleMuxes.Limit()-r.idle) {
		return nil, tooMany(idleMuxes.Exceed())
	}
	if err := r.muxes.Take(owner, 1); err != nil {
		return nil, tooMany(err)
	}
	r.idle++
	return r.addLocked(ctx, owner, true), nil
}

func (r *registry) addLocked(ctx context.Context, owner budget.Owner, mux bool) *stream {
	s := &stream{registry: r, owner: owner, mux: mux}
	s.hard, s.kill = context.WithCancel(ctx)
	s.ctx, s.end = context.WithCancelCause(s.hard)
	r.streams[s] = struct{}{}
	return s
}

func (r *registry) takeGraphLocked(owner budget.Owner) error {
	if !room(r.graphs.Held(owner), r.maxGraphs-r.sending) {
		return openGraphs.Exceed()
	}
	if err := r.graphs.Take(owner, 1); err != nil {
		return err
	}
	r.sending++
	return nil
}

// room tells whether an owner who holds some may have one more of what is free.
func room(held, free int64) bool {
	return free > 0 && (held < fewGraphs || held*freeShare < free)
}

// tooMany is the Status for a bound that is exceeded.
func tooMany(err error) error {
	return apierrors.NewTooManyRequests(err.Error()+"; close some, or try again later", 5)
}

// reserveChannel takes a place for one more graph on a mux. Its error is an
// *budget.Exceeded.
func (s *stream) reserveChannel() error {
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

func (s *stream) releaseChannel() {
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

// release gives back what was reserved. A mux has no channels any more.
func (s *stream) release() {
	// Frees what the contexts hold of their parents.
	s.end(context.Canceled)
	s.kill()
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
	if s.released != nil {
		s.released()
	}
	delete(r.streams, s)
	if r.stopped != nil && len(r.streams) == 0 {
		close(r.ended)
	}
}

// stop ends all streams and admits no more. The channel is closed when the last one
// is released. It is called once.
func (r *registry) stop(why *delivery.ClosedError) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = why
	for s := range r.streams {
		s.end(why)
	}
	if len(r.streams) == 0 {
		close(r.ended)
	}
	return r.ended
}

// kill cuts the streams that are not released.
func (r *registry) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.streams {
		s.kill()
	}
}
