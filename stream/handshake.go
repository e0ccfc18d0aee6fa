package stream

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"slices"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
	"graphview.dev/stream/rights"
)

// The buffers of a WebSocket would make up most of an idle one. A client sends pongs
// and one close frame; the other way, messages are put together behind the buffer.
const (
	readBuffer  = 64
	writeBuffer = 64
)

// handshake holds back what websocket.Accept says when it refuses, so that a
// Status can be said instead, and gives the connection smaller buffers than
// net/http's.
type handshake struct {
	http.ResponseWriter
	refused int
}

func (h *handshake) WriteHeader(code int) {
	if code == http.StatusSwitchingProtocols {
		h.ResponseWriter.WriteHeader(code)
		return
	}
	h.refused = code
}

func (h *handshake) Write(p []byte) (int, error) { return len(p), nil }

// Hijack is how the connection is taken over.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil || buffers.Reader.Buffered() > 0 {
		// What a hasty client has already sent is in there.
		return conn, buffers, err
	}
	out := bufio.NewWriterSize(&wholeMessages{out: conn}, writeBuffer)
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, readBuffer), out), nil
}

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
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, d door, serve func(*stream, *websocket.Conn, *socket, *rights.Lease)) {
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
	conn, out, ok := s.accept(w, r, d.protocol, d.about)
	if !ok {
		stream.release()
		return
	}
	held := s.acquire(r, who, d.about, d.right, stream)
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
		terms.Credentials = standing{own, s.access.authenticator}
	}
	return s.permissions.Acquire(stream.ctx, who, about, terms)
}

// accept makes a WebSocket of a request that has been admitted, or says why not
// with a Status about the named view.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, protocol string, name graphview.Name) (*websocket.Conn, *socket, bool) {
	if err := s.checkOrigin(r, name); err != nil {
		s.refuse(w, r, err)
		return nil, nil, false
	}
	answer, out := &handshake{ResponseWriter: w}, &socket{heartbeats: r.URL.Query().Get(heartbeatsOption) == "1"}
	conn, err := websocket.Accept(answer, r, &websocket.AcceptOptions{
		Subprotocols:   []string{protocol},
		OriginPatterns: s.options.AllowedOrigins,
		// A message is shared by its subscribers, its compressed form would not be:
		// whoever does not read would hold one, and a compressor of a megabyte.
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  out.answerPing,
	})
	if err != nil && answer.refused != 0 {
		s.refuse(w, r, status(int32(answer.refused), reasonOf(answer.refused), name, err.Error()))
	}
	return conn, out, err == nil
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
