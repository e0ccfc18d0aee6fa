package transport

import (
	"bufio"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// Larger buffers would be most of the memory of an idle WebSocket. A client sends pongs
// and one close frame; in the other direction, the coalescer joins the parts of a message behind the buffer.
const (
	readBuffer  = 64
	writeBuffer = 64
)

// handshake discards the response of websocket.Accept to a refused request, so that the caller can send a
// Status, and gives the connection smaller buffers than
// those of net/http.
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

// Hijack implements http.Hijacker with small buffers.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil || buffers.Reader.Buffered() > 0 {
		// The buffer may already contain data of the client.
		return conn, buffers, err
	}
	out := bufio.NewWriterSize(&frameCoalescer{out: conn}, writeBuffer)
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, readBuffer), out), nil
}

// AcceptOptions are the options of Accept.
type AcceptOptions struct {
	// Protocol is the subprotocol.
	Protocol string
	// AllowedOrigins are host patterns of pages, beside pages of the same host.
	AllowedOrigins []string
	// Heartbeats asks for an empty message before each ping.
	Heartbeats bool
}

// Refused is the reason why a request was not upgraded. Code is the HTTP code of the response, which the
// caller sends; 0 if no response can be sent.
type Refused struct {
	Code int
	err  error
}

func (r *Refused) Error() string { return r.err.Error() }

// Accept upgrades a request to a WebSocket.
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
