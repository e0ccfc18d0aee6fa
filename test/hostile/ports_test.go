package hostile

import (
	"fmt"
	"net"
	"testing"
)

// TestPorts: connections to the ports of metrics, of health and of the webhook are limited as all others
// are. The first ones are closed, and metrics are served.
func TestPorts(t *testing.T) {
	const connections = 1200 // beyond a quarter of the limit
	meanwhile(t, func(tries *tally) {
		for _, port := range []int{manager.MetricsPort(), manager.HealthPort(), webhook} {
			var first net.Conn
			for range connections {
				c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if first == nil {
					first = c
				}
				_, _ = fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: a\r\n") // it may be closed already
				tries.add("half a header")
			}
			if n, err := first.Read(make([]byte, 1)); err == nil && port != webhook {
				t.Errorf("port %d: the first connection is open: %d bytes", port, n)
			}
		}
		tries.measure(t)
	})
}
