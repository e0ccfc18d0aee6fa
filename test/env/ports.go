package env

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

const loopback = "127.0.0.1"

// given has the locks of the ports that FreePorts has returned. Their callers may not listen yet, or not at the moment.
var given = struct {
	mu    sync.Mutex
	locks map[int]*os.File // open until the process ends
}{locks: make(map[int]*os.File)}

// FreePorts returns n free loopback ports. They are below the range of ephemeral ports, so
// that no outgoing connection takes one before the server listens. A process gets each port
// only once, and no other process gets it before this one has ended: also not while a server
// that is started again does not listen.
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
		if given.locks[port] != nil {
			continue
		}
		lock, err := lockPort(port)
		if err != nil {
			return nil, err
		}
		if lock == nil {
			continue
		}
		listener, err := net.Listen("tcp", address(port))
		if err != nil {
			_ = lock.Close()
			continue
		}
		_ = listener.Close()
		given.locks[port] = lock
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("find %d free ports on %s between %d and %d", n, loopback, low, high)
}

// lockPort locks a port against other processes with FreePorts. It returns nil if one of them has it.
func lockPort(port int) (*os.File, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprint("graphview-ports-", os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("lock port %d: %w", port, err)
	}
	file, err := os.OpenFile(filepath.Join(folder, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock port %d: %w", port, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, file.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock port %d: %w", port, err), file.Close())
	}
	return file, nil
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
