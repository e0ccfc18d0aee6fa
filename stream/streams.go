package stream

import (
	"context"
	"net/http"
	"strconv"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// streams is the resource of connections for many graphs.
const streams = "streams"

// adHocOption is the parameter of a connection that serves only graphs that a GraphView declares: for a
// proxy that passes the connection on with rights that its client does not have.
const adHocOption = "adhoc"

// ofStreams reports whether a request is for a connection for many graphs.
func ofStreams(info *request.RequestInfo) bool {
	return info.IsResourceRequest && info.APIGroup == groupVersion.Group && info.Resource == streams && info.Verb == "watch" && info.Namespace == "" && info.Name == ""
}

// serveStreams upgrades to a connection for many graphs and returns. The rest happens in
// goroutines that the server joins.
func (s *Server) serveStreams(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) error {
	if r.Method != http.MethodGet || info.Verb != "watch" {
		return methodNotAllowed(r)
	}
	if !isUpgrade(r) {
		return apierrors.NewBadRequest("this is a WebSocket, with subprotocol " + mux.Subprotocol)
	}
	name := names.GraphName{Name: streams}
	// A hub has authenticated its users, who have no views of their own here.
	declared := credentialsFrom(r.Context()).ofHub()
	switch r.URL.Query().Get(adHocOption) {
	case "", "true":
	case "false":
		declared = true
	default:
		return apierrors.NewBadRequest("?adhoc= must be true, or false to refuse ad-hoc views on this connection")
	}
	who, _ := request.UserFrom(r.Context())
	var terms rights.Terms
	if !credentialsFrom(r.Context()).ofHub() {
		terms = s.termsOf(r, question{verb: "watch", group: groupVersion.Group, version: groupVersion.Version, resource: streams}, nil)
	}
	return s.upgrade(w, r, upgradeOptions{protocol: mux.Subprotocol, about: name, reserve: s.reserveMux}, func(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket) *session {
		terms.End = stream.End
		lease := s.permissions.Acquire(stream.Ctx, who, name, terms)
		defer lease.Release()
		m := mux.New(mux.Options{
			Socket: out, Graphs: muxGraphs{s, who, declared, proxy.NewRate()}, Room: muxRoom{stream},
			Observer: &muxObserver{server: s, pending: admission.PendingWrite{Cut: stream.Kill}},
			Context:  stream.Ctx, Hard: stream.Hard, End: stream.End,
			Why: s.closeError, Contain: s.contain,
			MaxChannels: s.options.MaxChannels, MaxRequest: maxRequest,
			Timing: mux.Timing{
				Heartbeat: s.timing.heartbeat, Pong: s.timing.pong, Write: s.timing.write, Idle: s.timing.idle, Grace: s.timing.grace,
			},
		})
		out.Start(conn, func() {
			defer s.contain(func() { stream.End(errInternal()) })
			m.Read(conn)
		})
		m.Run()
		return nil
	})
}

// reserveMux makes room for a connection for many graphs. The error is a Status.
func (s *Server) reserveMux(ctx context.Context, who user.Info) (*admission.Stream, error) {
	stream, err := s.registry.ReserveMux(ctx, budget.UserOwner(who))
	return stream, notAdmitted(err)
}

// muxGraphs opens graphs for one user of a connection for many graphs.
type muxGraphs struct {
	server *Server
	who    user.Info
	// declared: the connection serves only graphs that a GraphView declares.
	declared bool
	// rate bounds the bytes of other clusters that are parsed.
	rate *rate.Limiter
}

var errOnlyDeclared = transport.Malformed("subscribe.spec: this connection serves only graphs that a GraphView declares")

// check returns why a message cannot be answered on this connection.
func (g muxGraphs) check(asked mux.Subscribe) error {
	switch {
	case asked.Spec != nil && g.declared:
		return errOnlyDeclared
	case asked.Name.Cluster != "" && g.declared && g.server.options.Fleet == nil:
		return errNotFound
	case asked.Spec != nil:
		return nil
	}
	for _, part := range []string{asked.Name.Cluster, asked.Name.Namespace, asked.Name.Name} {
		if reasons := content.IsPathSegmentName(part); len(reasons) > 0 || len(part) > maxKeyPart {
			return transport.Malformed("subscribe: %q cannot be a name", delivery.Bounded(part))
		}
	}
	return nil
}

// subscribeRemote subscribes to a graph of another cluster, or asks about it.
func (g muxGraphs) subscribeRemote(ctx context.Context, end context.CancelCauseFunc, asked mux.Subscribe) (mux.Graph, error) {
	right := rightToCluster(asked.Name.Cluster)
	if err := g.server.access.may(ctx, g.who, right); err != nil {
		return nil, err
	}
	graph, err := g.server.openRemote(ctx, &remote{name: asked.Name, who: g.who, terms: right.terms(end), asked: asked, budget: g.rate})
	if err != nil {
		return nil, err
	}
	if asked.Impact != nil {
		return readImpact(ctx, graph)
	}
	return graph, nil
}

// Subscribe implements mux.Graphs.
func (g muxGraphs) Subscribe(ctx context.Context, end context.CancelCauseFunc, asked mux.Subscribe) (mux.Graph, error) {
	s := g.server
	if err := g.check(asked); err != nil {
		return nil, err
	}
	if asked.Name.Cluster != "" {
		return g.subscribeRemote(ctx, end, asked)
	}
	o := &opening{name: asked.Name, subscribe: &delivery.SubscribeOptions{
		Since: asked.Since, Content: asked.Content, Narrow: asked.Narrow, JoinWalk: true,
	}}
	if err := setHave(o.subscribe, asked.Have); err != nil {
		return nil, transport.Malformed("subscribe.have: %v", err)
	}
	if asked.Impact != nil || asked.Changes != nil || asked.At != "" {
		o.subscribe = nil
	}
	right := rightToGraph("watch", asked.Name.Namespace, asked.Name.Name)
	if asked.Spec != nil {
		if err := checkAdHoc(asked.Spec); err != nil {
			return nil, transport.Malformed("subscribe.%v", err)
		}
		o.name, o.declared, right = names.GraphName{Name: connectionPath}, asked.Spec, rightToConnection
	}
	if err := s.access.may(ctx, g.who, right); err != nil {
		return nil, err
	}
	o.terms = right.terms(end)
	graph, err := s.openChannel(ctx, g.who, o)
	switch {
	case err != nil:
		return nil, err
	case asked.At != "":
		if err := s.subscribePast(ctx, graph, asked.At); err != nil {
			graph.Close()
			return nil, err
		}
		return graph, nil
	case asked.Changes != nil:
		return s.openChanges(ctx, graph, asked.Changes)
	case asked.Impact != nil:
		return s.openImpact(ctx, graph, *asked.Impact)
	default:
		return graph, nil
	}
}

// openChannel opens a graph, which counts as a subscriber until it is closed.
func (s *Server) openChannel(ctx context.Context, who user.Info, o *opening) (*openGraph, error) {
	graph, err := s.open(ctx, who, o)
	if err != nil {
		return nil, toClosedError(err)
	}
	subscribers := s.metrics.subscribers.WithLabelValues(muxTransport)
	subscribers.Inc()
	graph.onClose = append(graph.onClose, subscribers.Dec)
	return graph, nil
}

// muxRoom reserves places for the graphs of one connection.
type muxRoom struct{ stream *admission.Stream }

// Reserve implements mux.Room.
func (r muxRoom) Reserve() error { return r.stream.ReserveChannel() }

// Release implements mux.Room.
func (r muxRoom) Release() { r.stream.ReleaseChannel() }

// muxObserver counts messages on one connection.
type muxObserver struct {
	server  *Server
	pending admission.PendingWrite
}

// Ended implements mux.Observer.
func (o *muxObserver) Ended(code reason.Code) {
	if code == 0 {
		o.server.metrics.streamEnded(gone)
		return
	}
	o.server.metrics.streamEnded(strconv.Itoa(int(code)))
}

// Refused implements mux.Observer.
func (o *muxObserver) Refused(code reason.Code) { o.server.metrics.refusedChannel(code) }

// Begin implements mux.Observer.
func (o *muxObserver) Begin(frame *delivery.Frame) { o.server.writes.Begin(&o.pending, frame) }

// End implements mux.Observer.
func (o *muxObserver) End(frame *delivery.Frame, err error) {
	o.server.writes.End(&o.pending)
	if err == nil {
		o.server.metrics.sent(muxTransport, frame)
	}
}
