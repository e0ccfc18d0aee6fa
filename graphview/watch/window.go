package watch

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// streamWindow is how much of a list or a watch is taken from the connection before it
// is read. HTTP/2's own 4 MiB are held for each watch whose reader is behind: of
// hundreds of watches that would be more memory than everything else. Inside a
// cluster, a window as small delays no watch.
const streamWindow = 256 << 10

// ownTransport makes the configuration use a transport that no other client shares, unless the
// configuration has one. The proxy stays the same.
func ownTransport(config *rest.Config) (owned bool) {
	if config.Transport != nil {
		return false
	}
	if config.Proxy == nil {
		config.Proxy = http.ProxyFromEnvironment
	}
	return true
}

// boundStreams bounds what is held of each stream of connections that are yet to be
// made.
func boundStreams(transport http.RoundTripper) {
	for {
		switch t := transport.(type) {
		case *http.Transport:
			t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: streamWindow}
			return
		case utilnet.RoundTripperWrapper:
			transport = t.WrappedRoundTripper()
		default:
			return
		}
	}
}
