package edge

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"graphview.dev/stream/replicas"
)

const (
	// streamWindow is the number of bytes that a holder may send on one relay before they
	// are read: as many as the largest window of a channel. The window of a connection is
	// a gibibyte, so a relay that is not read does not stop another one.
	streamWindow = maxWindow
	// pingAfter is the silence after which a holder has to answer a ping, and pongWithin
	// the time that it has to do so.
	pingAfter  = 5 * time.Second
	pongWithin = 3 * time.Second
)

// Direct reaches replicas at their Address, with what replicas authenticate each other
// with. closeIdle closes the connections that no relay uses.
func Direct(secured *tls.Config) (reach func(replicas.Member) http.RoundTripper, closeIdle func()) {
	transport := NewTransport(secured)
	return func(replicas.Member) http.RoundTripper { return transport }, transport.CloseIdleConnections
}

// NewTransport returns the transport to replicas that listen at their Address, with what
// replicas authenticate each other with.
func NewTransport(secured *tls.Config) *http.Transport {
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: helloWithin}).DialContext,
		TLSClientConfig:     secured.Clone(), // net/http changes it
		TLSHandshakeTimeout: helloWithin,
		Protocols:           protocols,
		IdleConnTimeout:     time.Minute,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: streamWindow, SendPingTimeout: pingAfter, PingTimeout: pongWithin,
		},
	}
}
