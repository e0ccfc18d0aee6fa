package holder

import (
	"net/http"
	"time"
)

const (
	// relaysPerConnection bounds what one replica reads from this one by one
	// connection. By then it dials another.
	relaysPerConnection = 512
	// frameBytes is the largest frame of HTTP/2 that edges may send. The client of an edge
	// has a buffer of that size, up to half a mebibyte, for each open relay, and the
	// messages of an edge are small.
	frameBytes = 16 << 10
)

// Configure has a server speak what relays need, and nothing else.
func Configure(server *http.Server) {
	server.Protocols = &http.Protocols{}
	server.Protocols.SetHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: relaysPerConnection, MaxReadFrameSize: frameBytes,
		SendPingTimeout: 5 * time.Second, PingTimeout: 3 * time.Second,
	}
}
