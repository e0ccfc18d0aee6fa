package peers

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Link is the way of the others to one replica: a port in front of its own, on which
// bytes may be late, or stay away.
type Link struct {
	listener net.Listener
	to       string
	running  sync.WaitGroup

	mu      sync.Mutex
	weather Weather
	turned  chan struct{} // closed when the weather is another one
	pairs   map[*pair]struct{}
	closed  bool
}

// Weather is what happens to bytes on their way. The zero value is none.
type Weather struct {
	// HeldThere holds what is sent to the replica, and HeldBack what it sends, until the
	// weather turns: so does a network that drops packets, which are sent again.
	HeldThere, HeldBack bool
	// Latency is that of each direction, and Rate how many bytes a second pass on one
	// connection; 0: all there are.
	Latency time.Duration
	Rate    int
}

// NewLink leads to an address until Close is called.
func NewLink(to string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("link to %s: %w", to, err)
	}
	l := &Link{listener: listener, to: to, turned: make(chan struct{}), pairs: make(map[*pair]struct{})}
	l.running.Go(l.accept)
	return l, nil
}

// Address is where the others reach the replica.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Turn makes the weather another one, for what is on its way too.
func (l *Link) Turn(to Weather) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.weather = to
	close(l.turned)
	l.turned = make(chan struct{})
}

func (l *Link) look() (now Weather, turned <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.weather, l.turned
}

// Cut ends all connections that there are.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.pairs {
		p.end()
	}
}

// Close ends the link and all its connections.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.listener.Close()
	l.Cut()
	l.running.Wait()
}

func (l *Link) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		to, err := net.Dial("tcp", l.to)
		if err != nil {
			_ = from.Close() // the replica is not there
			continue
		}
		l.join(from, to)
	}
}

// pair is one connection, by way of the link.
type pair struct {
	done chan struct{}
	end  func()
}

func (l *Link) join(from, to net.Conn) {
	p := &pair{done: make(chan struct{})}
	p.end = sync.OnceFunc(func() {
		close(p.done)
		_ = from.Close()
		_ = to.Close()
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		p.end()
		return
	}
	l.pairs[p] = struct{}{}
	var carrying sync.WaitGroup
	carrying.Go(func() { l.carry(p, from, to, func(w Weather) bool { return w.HeldThere }) })
	carrying.Go(func() { l.carry(p, to, from, func(w Weather) bool { return w.HeldBack }) })
	l.running.Go(func() {
		carrying.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.pairs, p)
	})
}

// chunks bounds what is on its way in one direction of a connection: more than a path with a
// bandwidth of 80 MB/s and a round trip of 100 ms has.
const chunks = 1 << 10

// chunk is some bytes, and when they were sent.
type chunk struct {
	bytes []byte
	at    time.Time
}

// carry takes bytes one way until the pair ends, and ends it when it cannot.
func (l *Link) carry(p *pair, from, to net.Conn, held func(Weather) bool) {
	flight := make(chan chunk, chunks)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(flight)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				select {
				case flight <- chunk{buffer[:n], time.Now()}:
				case <-p.done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for c := range flight {
		if !l.arrives(p, c, held) {
			break
		}
		if _, err := to.Write(c.bytes); err != nil {
			break
		}
	}
	p.end()
	reading.Wait()
}

// arrives waits until bytes are there; false if they never are.
func (l *Link) arrives(p *pair, c chunk, held func(Weather) bool) bool {
	for {
		now, turned := l.look()
		var due <-chan time.Time
		if !held(now) {
			late := time.Until(c.at.Add(now.Latency))
			if now.Rate > 0 {
				late = max(0, late) + time.Duration(len(c.bytes))*time.Second/time.Duration(now.Rate)
			}
			if late <= 0 {
				return true
			}
			timer := time.NewTimer(late)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-due:
			return true
		case <-turned:
		case <-p.done:
			return false
		}
	}
}
