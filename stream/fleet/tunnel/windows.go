package tunnel

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-yamux/v5"
)

// Windows bounds the memory by which the windows of streams have grown, over all tunnels of a
// process and for each of them. A window that cannot grow stays as it is: the stream is slower
// over a long distance, and nothing else. The zero Windows is ready for use.
type Windows struct{ bytes atomic.Int64 }

const (
	// grownInAll and grownPerTunnel bound the growth in bytes.
	grownInAll     = 64 << 20
	grownPerTunnel = 32 << 20
)

var errWindow = errors.New("the windows have grown to their limit")

// manager returns the memory managers of the streams of one tunnel.
func (w *Windows) manager() func() (yamux.MemoryManager, error) {
	tunnel := &Windows{}
	return func() (yamux.MemoryManager, error) { return &window{all: w, tunnel: tunnel}, nil }
}

// window implements yamux.MemoryManager for one stream.
type window struct {
	all, tunnel *Windows

	mu    sync.Mutex
	first bool // the first window is reserved
	grown int64
}

// ReserveMemory implements yamux.MemoryManager. The first window of a stream is free; it is
// bounded by the number of streams.
func (m *window) ReserveMemory(size int, _ uint8) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.first {
		m.first = true
		return nil
	}
	n := int64(size)
	if m.all == nil {
		return errWindow
	}
	if m.tunnel.bytes.Add(n) > grownPerTunnel {
		m.tunnel.bytes.Add(-n)
		return errWindow
	}
	if m.all.bytes.Add(n) > grownInAll {
		m.all.bytes.Add(-n)
		m.tunnel.bytes.Add(-n)
		return errWindow
	}
	m.grown += n
	return nil
}

// ReleaseMemory implements yamux.MemoryManager. Windows do not shrink.
func (m *window) ReleaseMemory(int) {}

// Done implements yamux.MemoryManager.
func (m *window) Done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grown == 0 {
		return
	}
	m.all.bytes.Add(-m.grown)
	m.tunnel.bytes.Add(-m.grown)
	m.grown = 0
}
