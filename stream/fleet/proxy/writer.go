package proxy

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
)

// writer gives a client an answer. Headers of the cluster are kept apart from those of the hub
// until they are sent, and informational answers are left out.
type writer struct {
	http.ResponseWriter
	header  http.Header // of the cluster
	writing func() (written func())
	sent    bool
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(code int) {
	if code < http.StatusOK || w.sent {
		return
	}
	w.sent = true
	maps.Copy(w.ResponseWriter.Header(), w.header)
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	defer w.writing()()
	return w.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error {
	defer w.writing()()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.sent = true
	return &clientConn{conn, w.writing}, buffered, nil
}

// clientConn is the connection of a client whose WebSocket passes.
type clientConn struct {
	net.Conn

	writing func() (written func())
}

// Write implements net.Conn.
func (c *clientConn) Write(p []byte) (int, error) {
	defer c.writing()()
	return c.Conn.Write(p)
}

// ReadFrom implements io.ReaderFrom with a buffer of the size of a response's.
func (c *clientConn) ReadFrom(from io.Reader) (int64, error) {
	b := buffers{}.Get()
	defer buffers{}.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{from}, b)
}

// clientBytes is the size of the buffer for messages of a client, which are short.
const clientBytes = 512

// WriteTo implements io.WriterTo.
func (c *clientConn) WriteTo(to io.Writer) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{c.Conn}, make([]byte, clientBytes))
}
