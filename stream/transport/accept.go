package transport

import (
	"bufio"
	"net"
	"net/http"

	"github.com/coder/websocket"
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
		// The buffer may already contain data of the client.
		return conn, buffers, err
	}
	out := bufio.NewWriterSize(&frameCoalescer{out: conn}, writeBuffer)
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, readBuffer), out), nil
}

// AcceptOptions say which WebSockets are accepted.
type AcceptOptions struct {
	// Protocol is the subprotocol.
	Protocol string
	// AllowedOrigins are host patterns of pages, beside those of the same host.
	AllowedOrigins []string
	// Heartbeats has a message that says nothing sent before each ping.
	Heartbeats bool
}

// Refused is why a request was not upgraded. Code is the HTTP code for the answer, which the
// caller sends; 0 if no answer can be sent.
type Refused struct {
	Code int
	err  error
}

func (r *Refused) Error() string { return r.err.Error() }

// Accept makes a WebSocket of a request.
func Accept(w http.ResponseWriter, r *http.Request, o AcceptOptions) (*websocket.Conn, *Socket, *Refused) {
	answer, out := &handshake{ResponseWriter: w}, &Socket{heartbeats: o.Heartbeats}
	conn, err := websocket.Accept(answer, r, &websocket.AcceptOptions{
		Subprotocols:   []string{o.Protocol},
		OriginPatterns: o.AllowedOrigins,
		// Messages are shared by subscribers, and compressed ones would not be: a slow reader
		// would hold a compressed message and a compressor of a megabyte.
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  out.answerPing,
	})
	if err != nil {
		return nil, nil, &Refused{answer.refused, err}
	}
	return conn, out, nil
}
