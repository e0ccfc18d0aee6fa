package env

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

const loopback = "127.0.0.1"

// given are the ports that this process has found: whoever asked for one may not listen yet.
var given = struct {
	mu    sync.Mutex
	ports map[int]bool
}{ports: make(map[int]bool)}

// FreePorts finds n loopback ports that nobody listens on. They lie below the
// range that the kernel gives to outgoing connections: between now and the
// moment a server takes its port, nobody gets it by accident. No port is found twice by a
// process.
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
