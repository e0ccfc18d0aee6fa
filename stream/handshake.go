package stream

import (
	"bufio"
	"net"
	"net/http"
	"slices"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview"
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

// offers is nil if a client that has protocols to choose from can speak one;
// otherwise a Status.
func offers(r *http.Request, protocol string) error {
	if offered := protocols(r); len(offered) > 0 && !slices.Contains(offered, protocol) {
		return apierrors.NewBadRequest("no known WebSocket subprotocol offered; it is " + protocol)
	}
	return nil
}

// accept makes a WebSocket of a request that has been admitted, or says why not
// with a Status about the named view.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, protocol string, name graphview.Name) (*websocket.Conn, *socket, bool) {
	answer, out := &handshake{ResponseWriter: w}, &socket{}
	conn, err := websocket.Accept(answer, r, &websocket.AcceptOptions{
		Subprotocols:   []string{protocol},
		OriginPatterns: s.options.AllowedOrigins,
		// Only for clients that ask; with context takeover a connection would hold
		// more than a megabyte.
		CompressionMode: websocket.CompressionNoContextTakeover,
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
