package hostile

import (
	"sync"

	"github.com/coder/websocket"
)

// inParallel does n things, some at a time, and returns when all are done.
func inParallel(atOnce, n int, do func(n int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range atOnce {
		all.Go(func() {
			for n := range next {
				do(n)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// held are connections that stay open.
type held struct {
	mu    sync.Mutex
	conns []*websocket.Conn
}

func (h *held) keep(conn *websocket.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = append(h.conns, conn)
}

func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, conn := range h.conns {
		_ = conn.CloseNow() // it may be closed already
	}
	h.conns = nil
}
