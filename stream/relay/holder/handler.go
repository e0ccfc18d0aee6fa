package holder

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"
	"weak"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/relay/wire"
)

// View is what is served of a view. A *graphview.View is one.
type View interface {
	WaitSynced(ctx context.Context) error
	Status() graphview.Status
	Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error)
	Subscribe(o delivery.SubscribeOptions) *delivery.Subscription
}

// Views are those that there are.
type Views interface {
	// Hold has this replica hold a view until release is called. With held, only if it
	// holds it already. The error is a *delivery.ClosedError, or ctx's.
	Hold(ctx context.Context, name graphview.Name, held bool) (view View, release func(), err error)
}

// Options of a Handler. Views, Run and Counted are required.
type Options struct {
	Views Views
	// Run is that of this process, which revisions are of.
	Run string
	// Opened is told of a relay that begins, +1, or ends, -1. Nil: nobody is told.
	Opened func(int)
	// Counted is told how many subscribers another replica has.
	Counted func(wire.Subscribers)
	Logger  logr.Logger
}

// Handler serves relays. Requests end with their context's.
type Handler struct {
	o   Options
	mux *http.ServeMux
	// known has the answers of all relays' subscribers.
	known *pool

	// leaving is closed by Leave, and left when no relay is open any more after that.
	leaving, left chan struct{}
	mu            sync.Mutex
	open          int
}

// New returns a Handler.
func New(o Options) *Handler {
	if o.Opened == nil {
		o.Opened = func(int) {}
	}
	h := &Handler{o: o, mux: http.NewServeMux(), known: &pool{by: make(map[string]weak.Pointer[answers])}, leaving: make(chan struct{}), left: make(chan struct{})}
	h.mux.HandleFunc("POST "+wire.Path+"/namespaces/{namespace}/graphs/{name}", h.serveRelay)
	h.mux.HandleFunc("GET "+wire.Path+"/namespaces/{namespace}/graphs/{name}/synced", h.serveSynced)
	h.mux.HandleFunc("POST "+wire.Path+"/subscribers", h.serveSubscribers)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

func nameOf(r *http.Request) graphview.Name {
	return graphview.Name{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

// serveSynced answers when the view is complete, or with why it is not served.
func (h *Handler) serveSynced(w http.ResponseWriter, r *http.Request) {
	view, release, err := h.o.Views.Hold(r.Context(), nameOf(r), r.URL.Query().Has("held"))
	if err != nil {
		refuse(w, err)
		return
	}
	defer release()
	if err := view.WaitSynced(r.Context()); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// serveSubscribers takes how many subscribers another replica has.
func (h *Handler) serveSubscribers(w http.ResponseWriter, r *http.Request) {
	var said wire.Subscribers
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, wire.MaxMessageBytes())).Decode(&said); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.o.Counted(said)
	w.WriteHeader(http.StatusNoContent)
}

// refuse says why there is no view to serve.
func refuse(w http.ResponseWriter, err error) {
	text, _ := json.Marshal(wire.EndingOf(closedBy(err))) // has a JSON form
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_, _ = w.Write(text)
}

// closedBy is how a channel ends because of an error.
func closedBy(err error) *delivery.ClosedError {
	if closed, ok := errors.AsType[*delivery.ClosedError](err); ok {
		return closed
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &delivery.ClosedError{Reason: reason.Stopping, Message: "the replica that holds the view is stopping"}
	}
	return &delivery.ClosedError{Reason: reason.Invalid, Message: err.Error()}
}

// Leave tells all edges to go on elsewhere, and those that come. It is called once. Left
// is closed when the last has gone.
func (h *Handler) Leave() (left <-chan struct{}) {
	close(h.leaving)
	h.count(0)
	return h.left
}

// count counts open relays, and tells whether another one may be.
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

// serveRelay is one relay.
func (h *Handler) serveRelay(w http.ResponseWriter, r *http.Request) {
	if !h.count(1) {
		refuse(w, context.Canceled)
		return
	}
	defer h.count(-1)
	view, release, err := h.o.Views.Hold(r.Context(), nameOf(r), r.URL.Query().Has("held"))
	if err != nil {
		refuse(w, err)
		return
	}
	defer release()
	h.o.Opened(1)
	defer h.o.Opened(-1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	control := http.NewResponseController(w)
	out := &relay{view: view, known: h.known, ctx: ctx, cancel: cancel, logger: h.o.Logger, out: w, flush: control.Flush, at: make(map[delivery.Step]*channel), channels: make(map[uint64]*channel)}
	w.Header().Set("Content-Type", "application/octet-stream")
	synced := view.Status().Synced
	err = out.write(wire.AppendControl(nil, wire.Hello, 0, wire.Greeting{Run: h.o.Run, Synced: synced}))
	if err == nil {
		out.running.Go(func() {
			if !synced && view.WaitSynced(ctx) == nil {
				out.say(wire.Synced)
			}
		})
		// Whoever reads is woken when the server stops. Nobody may touch the response after
		// this handler.
		out.running.Go(func() {
			select {
			case <-h.leaving:
				out.say(wire.Leaving)
				<-ctx.Done()
			case <-ctx.Done():
			}
			_ = control.SetReadDeadline(time.Now())
		})
		err = wire.NewReader(r.Body).Each(out.take) // until the edge hangs up, which is an error too
	}
	cancel()
	out.running.Wait()
	h.o.Logger.V(1).Info("relay ended", "view", nameOf(r).String(), "cause", err.Error())
}
