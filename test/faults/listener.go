package faults

import (
	"net"
	"sync"
)

// listener keeps its open connections.
type listener struct {
	net.Listener

	mu          sync.Mutex
	connections map[*connection]bool
	refuses     bool
	mute        bool // new connections are silent from the beginning
}

func newListener(inner net.Listener) *listener {
	return &listener{Listener: inner, connections: make(map[*connection]bool)}
}

// Accept closes connections at once while the listener refuses them.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		if l.refuses {
			l.mu.Unlock()
			_ = inner.Close()
			continue
		}
		c := &connection{Conn: inner, listener: l, dead: make(chan struct{}), closed: make(chan struct{})}
		l.connections[c] = true
		if l.mute {
			c.kill()
		}
		l.mu.Unlock()
		return c, nil
	}
}

func (l *listener) refuse(refuses bool) {
	l.mu.Lock()
	l.refuses = refuses
	l.mu.Unlock()
}

func (l *listener) all() []*connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*connection
	for c := range l.connections {
		all = append(all, c)
	}
	return all
}

func (l *listener) cut() {
	for _, c := range l.all() {
		_ = c.Close()
	}
}

// silence makes all connections silent, also new ones.
func (l *listener) silence() {
	l.mu.Lock()
	l.mute = true
	l.mu.Unlock()
	l.kill()
}

// speak makes new connections work again, and closes the silent ones.
func (l *listener) speak() {
	l.mu.Lock()
	l.mute = false
	l.mu.Unlock()
	l.bury()
}

func (l *listener) kill() {
	for _, c := range l.all() {
		c.kill()
	}
}

func (l *listener) bury() {
	for _, c := range l.all() {
		if c.isDead() {
			_ = c.Close()
		}
	}
}

// connection is a connection that can go silent without being closed, as when a firewall
// drops it.
type connection struct {
	net.Conn

	listener *listener
	die, end sync.Once
	dead     chan struct{}
	closed   chan struct{}
}

func (c *connection) kill() { c.die.Do(func() { close(c.dead) }) }

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	// The end of the other side is passed on, so that this side ends too.
	if err == nil && c.silent() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *connection) Write(p []byte) (int, error) {
	if c.silent() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// silent waits, on a dead connection, until it is closed on this side.
func (c *connection) silent() bool {
	if !c.isDead() {
		return false
	}
	<-c.closed
	return true
}

func (c *connection) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

func (c *connection) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.connections, c)
	c.listener.mu.Unlock()
	c.end.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
