package stream

import (
	"net/http"
	"strconv"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

// streams is the resource that a connection with many graphs is a watch of.
const streams = "streams"

// serveStreams upgrades to a connection with many graphs, and returns; the rest
// happens in goroutines that the server joins.
func (s *Server) serveStreams(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if r.Method != http.MethodGet || info.Verb != "watch" {
		s.refuse(w, r, methodNotAllowed(r))
		return
	}
	if !isUpgrade(r) {
		s.refuse(w, r, apierrors.NewBadRequest("this is a WebSocket, with subprotocol "+mux.Subprotocol))
		return
	}
	right := question{verb: "watch", group: groupVersion.Group, version: groupVersion.Version, resource: streams}
	d := door{protocol: mux.Subprotocol, about: graphview.Name{Name: streams}, right: right, reserve: s.registry.reserveMux}
	who, _ := request.UserFrom(r.Context())
	s.upgrade(w, r, d, func(stream *stream, conn *websocket.Conn, out *transport.Socket, _ *rights.Lease) {
		m := mux.New(mux.Options{
			Socket: out, Graphs: muxGraphs{s, who}, Room: muxRoom{stream},
			Observer: &muxObserver{server: s, writing: writing{cut: stream.kill}},
			Context:  stream.ctx, Hard: stream.hard, End: stream.end,
			Why: s.why, Contain: s.contain,
			MaxChannels: s.options.MaxChannels, MaxRequest: maxRequest,
			Timing: mux.Timing{
				Heartbeat: s.timing.heartbeat, Pong: s.timing.pong, Write: s.timing.write, Idle: s.timing.idle, Grace: s.timing.grace,
			},
		})
		out.Start(conn, func() {
			defer s.contain(func() { stream.end(errInternal()) })
			m.Read(conn)
		})
		m.Run()
	})
}

// muxRoom is the registry's room for the graphs of one connection.
type muxRoom struct{ stream *stream }

// Reserve implements mux.Room.
func (r muxRoom) Reserve() error { return r.stream.reserveChannel() }

// Release implements mux.Room.
func (r muxRoom) Release() { r.stream.releaseChannel() }

// muxObserver counts what is sent on one connection, and what is being written.
type muxObserver struct {
	server  *Server
	writing writing
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
func (o *muxObserver) Begin(frame *delivery.Frame) { o.server.unsent.begin(&o.writing, frame) }

// End implements mux.Observer.
func (o *muxObserver) End(frame *delivery.Frame, err error) {
	o.server.unsent.end(&o.writing)
	if err == nil {
		o.server.metrics.sent(muxTransport, frame)
	}
}
