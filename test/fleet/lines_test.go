package fleet

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lines are the connections of a listener, whose faults are those of a network.
type lines struct {
	net.Listener

	delay atomic.Int64 // of each read, in nanoseconds

	mu   sync.Mutex
	open []*line
	ice  *chan struct{} // of connections that are opened; nil: bytes may pass
}

// Accept implements net.Listener.
func (l *lines) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	added := &line{Conn: conn, lines: l, closed: make(chan struct{})}
	l.mu.Lock()
	l.open = append(l.open, added)
	if l.ice != nil {
		added.in.Store(l.ice)
		added.out.Store(l.ice)
	}
	l.mu.Unlock()
	return added, nil
}

// cut ends all connections, as an intermediary does that restarts.
func (l *lines) cut() {
	l.mu.Lock()
	open := l.open
	l.open = nil
	l.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close()
	}
}

// slow delays what is read from now on.
func (l *lines) slow(delay time.Duration) { l.delay.Store(int64(delay)) }

// freeze lets no byte pass on the connections that are open, until thaw is called: as a partition does
// in one or both directions. Others that are opened are not concerned.
func (l *lines) freeze(in, out bool) (thaw func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.freezeLocked(make(chan struct{}), in, out)
}

func (l *lines) freezeLocked(ice chan struct{}, in, out bool) (thaw func()) {
	for _, conn := range l.open {
		if in {
			conn.in.Store(&ice)
		}
		if out {
			conn.out.Store(&ice)
		}
	}
	return sync.OnceFunc(func() { close(ice) })
}

// partition lets no byte pass until thaw is called, not even on connections that are opened meanwhile.
func (l *lines) partition() (thaw func()) {
	ice := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ice = &ice
	melt := l.freezeLocked(ice, true, true)
	return func() {
		l.mu.Lock()
		l.ice = nil
		l.mu.Unlock()
		melt()
	}
}

// line is a connection of lines.
type line struct {
	net.Conn

	lines   *lines
	in, out atomic.Pointer[chan struct{}] // closed when bytes may pass again
	until   atomic.Pointer[time.Time]     // the deadline of writes
	closing sync.Once
	closed  chan struct{}
}

// wait returns when bytes may pass, an error at the deadline.
func (l *line) wait(ice *atomic.Pointer[chan struct{}], until *time.Time) error {
	frozen := ice.Load()
	if frozen == nil {
		return nil
	}
	var late <-chan time.Time
	if until != nil && !until.IsZero() {
		late = time.After(time.Until(*until))
	}
	select {
	case <-*frozen:
	case <-l.closed:
	case <-late:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// SetWriteDeadline implements net.Conn.
func (l *line) SetWriteDeadline(at time.Time) error {
	l.until.Store(&at)
	return l.Conn.SetWriteDeadline(at)
}

// Read implements net.Conn.
func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	time.Sleep(time.Duration(l.lines.delay.Load()))
	_ = l.wait(&l.in, nil) // never fails without a deadline
	return n, err
}

// Write implements net.Conn.
func (l *line) Write(p []byte) (int, error) {
	if err := l.wait(&l.out, l.until.Load()); err != nil {
		return 0, err
	}
	return l.Conn.Write(p)
}

// Close implements net.Conn.
func (l *line) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Conn.Close()
}
