package network

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Path is a port in front of one or more servers. A new connection leads to the next server that
// accepts it, as behind a load balancer.
type Path struct {
	listener net.Listener
	to       []string
	running  sync.WaitGroup

	mu      sync.Mutex
	weather Weather
	turned  chan struct{} // closed when the weather changes
	pairs   map[*pair]struct{}
	closed  bool
}

// Weather is the state of a path. The zero value forwards bytes at once.
type Weather struct {
	// HeldThere holds bytes to the server, and HeldBack bytes from it, until the weather changes.
	// A network that drops packets does the same, since TCP sends them again.
	HeldThere, HeldBack bool
	// Latency is added in each direction.
	Latency time.Duration
	// Rate is the number of bytes a second in each direction of a connection; 0: no limit.
	Rate int
	// Refused closes new connections at once.
	Refused bool
}

// Away holds both directions.
var Away = Weather{HeldThere: true, HeldBack: true}

// NewPath returns a path to some addresses, until Close is called.
func NewPath(to ...string) (*Path, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("path to %v: %w", to, err)
	}
	p := &Path{listener: listener, to: to, turned: make(chan struct{}), pairs: make(map[*pair]struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Address returns the address for clients.
func (p *Path) Address() string { return p.listener.Addr().String() }

// Turn changes the weather, for bytes on their way too.
func (p *Path) Turn(to Weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.weather = to
	close(p.turned)
	p.turned = make(chan struct{})
}

// look returns the weather, and whether it holds bytes of a pair.
func (p *Path) look(joined *pair, held func(Weather) bool) (now Weather, holds bool, turned <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.weather, joined.dropped || held(p.weather), p.turned
}

// Drop holds the bytes of all open connections for ever, as a firewall that has forgotten them. New connections
// work.
func (p *Path) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pair := range p.pairs {
		pair.dropped = true
	}
	close(p.turned)
	p.turned = make(chan struct{})
}

// CutDropped ends the connections that Drop holds.
func (p *Path) CutDropped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pair := range p.pairs {
		if pair.dropped {
			pair.end()
		}
	}
}

// Cut ends all open connections.
func (p *Path) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pair := range p.pairs {
		pair.end()
	}
}

// Close ends the path and its connections.
func (p *Path) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.running.Wait()
}

func (p *Path) accept() {
	for first := 0; ; first++ {
		from, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		if to := p.dial(first); to != nil {
			p.join(from, to)
		} else {
			_ = from.Close()
		}
	}
}

// dial connects to the first server that accepts, beginning with a given one; nil: none does.
func (p *Path) dial(first int) net.Conn {
	for i := range p.to {
		if to, err := net.Dial("tcp", p.to[(first+i)%len(p.to)]); err == nil {
			return to
		}
	}
	return nil
}

// pair is one connection to the path, with the connection to the server.
type pair struct {
	done    chan struct{}
	end     func()
	dropped bool // see Drop; Path.mu guards it
}

func (p *Path) join(from, to net.Conn) {
	joined := &pair{done: make(chan struct{})}
	joined.end = sync.OnceFunc(func() {
		close(joined.done)
		_ = from.Close()
		_ = to.Close()
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.weather.Refused {
		joined.end()
		return
	}
	p.pairs[joined] = struct{}{}
	var carrying sync.WaitGroup
	carrying.Go(func() { p.carry(joined, from, to, func(w Weather) bool { return w.HeldThere }) })
	carrying.Go(func() { p.carry(joined, to, from, func(w Weather) bool { return w.HeldBack }) })
	p.running.Go(func() {
		carrying.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pairs, joined)
	})
}

// chunks bounds the bytes on their way in one direction of a connection: more than a network of
// 80 MB/s with a round trip of 100 ms holds.
const chunks = 1 << 10

// chunk has some bytes and the time at which they were sent.
type chunk struct {
	bytes []byte
	at    time.Time
}

// carry forwards one direction until the pair ends, and ends the pair after an error.
func (p *Path) carry(joined *pair, from, to net.Conn, held func(Weather) bool) {
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
				case <-joined.done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for c := range flight {
		if !p.arrives(joined, c, held) {
			break
		}
		if _, err := to.Write(c.bytes); err != nil {
			break
		}
	}
	joined.end()
	reading.Wait()
}

// arrives waits until bytes may be written; false: the pair has ended.
func (p *Path) arrives(joined *pair, c chunk, held func(Weather) bool) bool {
	for {
		now, holds, turned := p.look(joined, held)
		var due <-chan time.Time
		if !holds {
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
		case <-joined.done:
			return false
		}
	}
}
