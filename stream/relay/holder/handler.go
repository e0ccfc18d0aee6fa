package holder

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/relay/wire"
)

const (
	// writeWithin is the time within which an edge has to take what is written at once.
	writeWithin = 10 * time.Second
	// relaysPerConnection bounds what one replica reads from this one by one
	// connection. By then it dials another.
	relaysPerConnection = 512
	// frameBytes is the largest frame of HTTP/2 that edges may send. The client of an edge
	// has a buffer of that size, up to half a mebibyte, for each open relay, and the
	// messages of an edge are small.
	frameBytes = 16 << 10
)

// Subscription is what a channel reads; see stream.Subscription.
type Subscription interface {
	Poll() ([]*delivery.Frame, error)
	Wait(ctx context.Context) error
	Close()
}

// View is what is served of a view.
type View interface {
	WaitSynced(ctx context.Context) error
	Status() graphview.Status
	Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error)
	Subscribe(o delivery.SubscribeOptions) Subscription
}

// Views are the views of this installation.
type Views interface {
	// Acquire has this replica hold a view until release is called. With onlyIfHeld, it
	// fails if this replica does not hold the view yet. The error is a
	// *delivery.ClosedError, or ctx's.
	Acquire(ctx context.Context, name graphview.Name, onlyIfHeld bool) (view View, release func(), err error)
}

// Options of a Handler. Views and Run are required.
type Options struct {
	Views Views
	// Run is that of this process, which its revisions begin with.
	Run string
	// Admit returns the access of a user whom an opening names. Nil: openings have the
	// user's answers instead, as between the replicas of one cluster.
	Admit Admit
	// Opened is called with +1 when a relay begins, and with -1 when it ends. Nil: not.
	Opened func(int)
	Logger logr.Logger
}

// Admitted is a user's access to a view. Release ends it, once.
type Admitted struct {
	Access  delivery.Access
	Owner   budget.Owner
	Release func()
}

// Admit decides about a user of another cluster. It ends the channel with end when the user
// loses the right. The error is a *delivery.ClosedError, or ctx's.
type Admit func(ctx context.Context, name graphview.Name, who wire.User, end context.CancelCauseFunc) (Admitted, error)

// Handler serves relays. Requests end with their context's.
type Handler struct {
	o     Options
	mux   *http.ServeMux
	cache *answerCache

	// leaving is closed by Leave, and left when open is 0 after that.
	leaving, left chan struct{}
	mu            sync.Mutex
	open          int // relays of edges that are not leaving
	stale         bool
	turned        chan struct{} // closed when stale changes
}

// New returns a Handler.
func New(o Options) *Handler {
	if o.Opened == nil {
		o.Opened = func(int) {}
	}
	h := &Handler{
		o: o, mux: http.NewServeMux(), cache: new(answerCache),
		leaving: make(chan struct{}), left: make(chan struct{}), turned: make(chan struct{}),
	}
	h.mux.HandleFunc(wire.Pattern, h.serveRelay)
	return h
}

// Configure has a server speak what relays need, and nothing else.
func Configure(server *http.Server) {
	server.Protocols = &http.Protocols{}
	server.Protocols.SetHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: relaysPerConnection, MaxReadFrameSize: frameBytes,
		SendPingTimeout: 5 * time.Second, PingTimeout: 3 * time.Second,
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// closedBy returns the reason with which an error ends a channel.
func closedBy(err error) *delivery.ClosedError {
	if closed, ok := errors.AsType[*delivery.ClosedError](err); ok {
		return closed
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &delivery.ClosedError{Reason: reason.Stopping, Message: "the replica that holds the view is stopping"}
	}
	return &delivery.ClosedError{Reason: reason.Invalid, Message: err.Error()}
}

// Leave asks all edges to read from other replicas, and refuses new relays. It is called
// once. The channel is closed when all edges whose relays are still open are leaving too.
func (h *Handler) Leave() (left <-chan struct{}) {
	close(h.leaving)
	h.count(0)
	return h.left
}

// SetStale tells all edges that this replica has lost its API server, or has it back.
func (h *Handler) SetStale(stale bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stale != h.stale {
		h.stale = stale
		close(h.turned)
		h.turned = make(chan struct{})
	}
}

func (h *Handler) staleness() (stale bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stale, h.turned
}

// count counts open relays, and reports whether another one may be opened.
func (h *Handler) count(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.leaving:
		if n > 0 {
			return false
		}
		if h.open += n; h.open == 0 {
			select {
			case <-h.left:
			default:
				close(h.left)
			}
		}
	default:
		h.open += n
	}
	return true
}

// serveRelay is one relay. It greets before it looks for the view: an edge can tell a view
// that takes long from a replica that is lost.
func (h *Handler) serveRelay(w http.ResponseWriter, r *http.Request) {
	version, ok := wire.Negotiate(wire.Versions, r.Header.Get(wire.Header))
	if !ok {
		http.Error(w, "this replica speaks version "+wire.Versions+" of the relay protocol", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := &relay{
		cache: h.cache, admit: h.o.Admit, ctx: ctx, cancel: cancel, logger: h.o.Logger, channels: make(map[uint64]*channel),
		kick: make(chan struct{}, 1), room: make(chan struct{}), admitted: make(chan struct{}),
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	writer := &writer{w, http.NewResponseController(w)}
	if writer.write([][]byte{wire.AppendControl(nil, wire.Hello, 0, wire.Greeting{Run: h.o.Run, Version: version})}) != nil {
		return
	}
	if closed := h.serve(ctx, out, writer, r); closed != nil {
		_ = writer.write([][]byte{wire.AppendControl(nil, wire.End, 0, wire.EndingOf(closed))})
	}
}

// serve serves a view to an edge that was greeted, until it hangs up. The error says why
// the view is not served.
func (h *Handler) serve(ctx context.Context, out *relay, writer *writer, r *http.Request) *delivery.ClosedError {
	if !h.count(1) {
		return closedBy(context.Canceled)
	}
	out.leave = sync.OnceFunc(func() { h.count(-1) })
	defer out.leave()
	name := graphview.Name{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	view, release, err := h.o.Views.Acquire(ctx, name, r.URL.Query().Has("onlyIfHeld"))
	if err != nil {
		return closedBy(err)
	}
	defer release()
	h.o.Opened(1)
	defer h.o.Opened(-1)
	out.view, out.name = view, name
	synced := view.Status().Synced
	out.say(wire.AppendControl(nil, wire.Hold, 0, wire.Held{Synced: synced}))
	if !synced {
		out.running.Go(out.waitSynced)
	}
	out.running.Go(func() {
		out.writeTo(writer.write, h.leaving, h.staleness)
		// The reader below is woken.
		_ = writer.control.SetReadDeadline(time.Now())
	})
	err = wire.NewReader(r.Body).Each(out.take) // until the edge hangs up, which is an error too
	out.cancel()
	out.running.Wait()
	h.o.Logger.V(1).Info("relay ended", "view", name.String(), "cause", err.Error())
	return nil
}

// writer writes to the edge.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
}

// write fails if the edge does not take the messages in time.
func (w *writer) write(parts [][]byte) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil { //nolint:gosec // frames for another replica, never a page
			return err
		}
	}
	if err := w.control.Flush(); err != nil {
		return err
	}
	return w.control.SetWriteDeadline(time.Time{}) // it would end the request at rest too
}
