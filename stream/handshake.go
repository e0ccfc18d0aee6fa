package stream

import (
	"context"
	"net/http"
	"slices"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

// door is what the upgrades differ in.
type door struct {
	// protocol is the WebSocket subprotocol.
	protocol string
	// about is the graph, or what else the lease is for.
	about graphview.Name
	// right is what the peer must remain allowed to do.
	right question
	// reserve makes room for it, or returns a Status.
	reserve func(ctx context.Context, who user.Info) (*stream, error)
}

// upgrade makes a WebSocket of a request and returns. What is served over it goes on
// in a goroutine that the server joins.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, d door, serve func(*stream, *websocket.Conn, *transport.Socket, *rights.Lease)) {
	if offered := protocols(r); len(offered) > 0 && !slices.Contains(offered, d.protocol) {
		s.refuse(w, r, apierrors.NewBadRequest("no known WebSocket subprotocol offered; it is "+d.protocol))
		return
	}
	who, _ := request.UserFrom(r.Context())
	stream, err := d.reserve(baseContext(r), who)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	var conn *websocket.Conn
	takenOver := false
	// Until the goroutine has taken over, a panic gives back what is there for it.
	defer func() {
		if takenOver {
			return
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
		stream.release()
	}()
	conn, out, ok := s.accept(w, r, d.protocol, d.about)
	if !ok {
		return
	}
	held := s.acquire(r, who, d.about, d.right, stream)
	takenOver = true
	go func() {
		defer stream.release()
		defer held.Release()
		defer s.contain(func() { _ = conn.CloseNow() })
		serve(stream, conn, out, held)
	}()
}

// acquire takes a lease for as long as a request's stream lasts. It may ask the API
// server.
func (s *Server) acquire(r *http.Request, who user.Info, about graphview.Name, right question, stream *stream) *rights.Lease {
	terms := right.terms(stream.end)
	if own := credentialsFrom(r.Context()).own(); own != nil {
		terms.Credentials = own.standing(s.access.authenticator)
	}
	return s.permissions.Acquire(stream.ctx, who, about, terms)
}

// accept makes a WebSocket of a request that has been admitted, or says why not
// with a Status about the named view.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, protocol string, name graphview.Name) (*websocket.Conn, *transport.Socket, bool) {
	if err := s.checkOrigin(r, name); err != nil {
		s.refuse(w, r, err)
		return nil, nil, false
	}
	conn, out, refused := transport.Accept(w, r, transport.AcceptOptions{
		Protocol: protocol, AllowedOrigins: s.options.AllowedOrigins, Heartbeats: r.URL.Query().Get(heartbeatsOption) == "1",
	})
	if refused != nil && refused.Code != 0 {
		s.refuse(w, r, status(int32(refused.Code), reasonOf(refused.Code), name, refused.Error())) //nolint:gosec // a code of HTTP
	}
	return conn, out, refused == nil
}

// reasonOf is the Kubernetes word for the codes with which a handshake fails.
func reasonOf(code int) metav1.StatusReason {
	switch code {
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError
	default:
		return metav1.StatusReasonBadRequest
	}
}
