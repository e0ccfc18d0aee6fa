package stream

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// upgradeOptions of upgrade.
type upgradeOptions struct {
	// protocol is the WebSocket subprotocol.
	protocol string
	// about names the graph, or the path, in errors.
	about names.GraphName
	// reserve makes room for the stream, or returns a Status.
	reserve func(ctx context.Context, who user.Info) (*admission.Stream, error)
}

// upgrade makes a WebSocket of a request and returns. begin runs in a goroutine that the
// server joins. It returns the session that this goroutine then runs, nil if the stream has
// ended: the stack of an idle session stays as large as the frames below it. The error is a Status.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, o upgradeOptions, begin func(*admission.Stream, *websocket.Conn, *transport.Socket) *session) error {
	if offered := protocols(r); len(offered) > 0 && !slices.Contains(offered, o.protocol) {
		return apierrors.NewBadRequest("no known WebSocket subprotocol offered; it is " + o.protocol)
	}
	who, _ := request.UserFrom(r.Context())
	stream, err := o.reserve(baseContext(r), who)
	if err != nil {
		return err
	}
	var conn *websocket.Conn
	handedOver := false
	// Until the goroutine runs, this also cleans up after a panic.
	defer func() {
		if handedOver {
			return
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
		stream.Release()
	}()
	conn, out, err := s.accept(w, r, o)
	if conn == nil {
		return err
	}
	handedOver = true
	go func() {
		defer stream.Release()
		defer s.contain(func() { _ = conn.CloseNow() })
		if session := begin(stream, conn, out); session != nil {
			session.run(stream.Ctx, stream.Hard)
		}
	}()
	return nil
}

// accept makes a WebSocket of a request that has been admitted. The error is a Status; nil without a
// WebSocket: no answer can be sent.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, o upgradeOptions) (*websocket.Conn, *transport.Socket, error) {
	if err := s.checkOrigin(r, o.about); err != nil {
		return nil, nil, err
	}
	conn, out, refused := transport.Accept(w, r, transport.AcceptOptions{
		Protocol: o.protocol, AllowedOrigins: s.options.AllowedOrigins, Heartbeats: r.URL.Query().Get(heartbeatsOption) == "1",
	})
	if refused != nil && refused.Code != 0 {
		return nil, nil, status(int32(refused.Code), reasonOf(refused.Code), o.about, refused.Error()) //nolint:gosec // a code of HTTP
	}
	return conn, out, nil
}

// reserve makes room for a stream of one graph. The error is a Status.
func (s *Server) reserve(ctx context.Context, who user.Info) (*admission.Stream, error) {
	stream, err := s.registry.Reserve(ctx, budget.UserOwner(who))
	return stream, notAdmitted(err)
}

// closeSocket sends the error of a stream that has not begun, and closes the socket.
func (s *Server) closeSocket(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket, err error) {
	if errors.Is(err, transport.ErrGone) || errors.Is(err, context.Canceled) {
		out.Abort()
		return
	}
	closed := toClosedError(err)
	ctx, cancel := context.WithTimeout(stream.Hard, s.timing.grace)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, transport.ErrorFrame(closed).JSON); err != nil {
		out.Abort()
		return
	}
	out.Close(closed.Code(), reason.CloseText(closed.Reason, closed.Message))
}

// reasonOf returns the Kubernetes reason of a code with which a handshake fails.
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
