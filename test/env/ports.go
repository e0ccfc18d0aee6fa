package env

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

const loopback = "127.0.0.1"

// given has the ports that FreePorts has returned. Their callers may not listen yet.
var given = struct {
	mu    sync.Mutex
	ports map[int]bool
}{ports: make(map[int]bool)}

// FreePorts returns n free loopback ports. They are below the range of ephemeral ports, so
// that no outgoing connection takes one before the server listens. A process gets each port
// only once.
func FreePorts(n int) ([]int, error) {
	const low, high, attempts = 20000, 32000, 1000
	given.mu.Lock()
	defer given.mu.Unlock()
	var ports []int
	for range attempts {
		if len(ports) == n {
			return ports, nil
		}
		port := low + rand.IntN(high-low)
		if given.ports[port] {
			continue
		}
		listener, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}
		_ = listener.Close()
		given.ports[port] = true
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("find %d free ports on %s between %d and %d", n, loopback, low, high)
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
