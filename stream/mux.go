package stream

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

const (
	// streams is the resource that a connection for many graphs is a watch of.
	streams = "streams"
	// muxSubprotocol is the WebSocket subprotocol spoken there.
	muxSubprotocol = "graphview.mux.v1"
)

// mux is one connection with many graphs, each on a channel of its own. It is
// ended and joined like a session.
type mux struct {
	server *Server
	who    user.Info
	out    wire
	stream *stream
	// turn is held by whoever sends a message. It is given in the order in which it
	// was asked for, so whoever has much to send, and comes again after each message,
	// lets everybody else through in between.
	turn *semaphore.Weighted
	// writing is for whoever has the turn.
	writing writing
	pings   sync.WaitGroup
	// heard gets a token when the peer said something; hearing, which mu guards,
	// is while the reader does what it said.
	heard   chan struct{}
	hearing bool

	running sync.WaitGroup // channels
	// busy has a token of each of these. One that is over may still have to say so
	// to a peer that does not read, which is then not listened to either.
	busy chan struct{}

	mu       sync.Mutex
	over     bool // no channel is begun any more
	begun    int  // channels that have not ended, those without a number too
	last     int64
	channels map[int64]*channel
	spoke    time.Time // when the last message was sent
	idle     time.Time // since when there is no channel, if there is none
}

// wire is what a mux needs of a WebSocket; see transport.
type wire interface {
	WriteSpliced(ctx context.Context, more string, text []byte) error
	Ping(ctx context.Context) error
	Close(code reason.Code, text string)
	Abort()
}

// serveStreams upgrades and returns; the rest happens in goroutines that the
// server joins.
func (s *Server) serveStreams(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if r.Method != http.MethodGet || info.Verb != "watch" {
		s.refuse(w, r, methodNotAllowed(r))
		return
	}
	if !isUpgrade(r) {
		s.refuse(w, r, apierrors.NewBadRequest("this is a WebSocket, with subprotocol "+muxSubprotocol))
		return
	}
	right := question{verb: "watch", group: groupVersion.Group, version: groupVersion.Version, resource: streams}
	d := door{protocol: muxSubprotocol, about: graphview.Name{Name: streams}, right: right, reserve: s.registry.reserveMux}
	who, _ := request.UserFrom(r.Context())
	s.upgrade(w, r, d, func(stream *stream, conn *websocket.Conn, out *transport.Socket, _ *rights.Lease) {
		m := s.newMux(who, out, stream)
		out.Start(conn, func() {
			defer s.contain(func() { stream.end(errInternal()) })
			m.read(conn)
		})
		m.run()
	})
}

func (s *Server) newMux(who user.Info, out wire, stream *stream) *mux {
	return &mux{
		server: s, who: who, out: out, stream: stream, turn: semaphore.NewWeighted(1), writing: writing{cut: stream.kill}, heard: make(chan struct{}, 1),
		busy:     make(chan struct{}, 2*s.options.MaxChannels),
		channels: make(map[int64]*channel), spoke: time.Now(), idle: time.Now(),
	}
}

// run returns when the connection is over, with everything closed.
func (m *mux) run() {
	m.stream.end(m.beat(m.stream.ctx))
	m.mu.Lock()
	m.over = true
	m.mu.Unlock()
	m.running.Wait()
	m.pings.Wait()
	closed := m.server.why(m.stream.ctx, graphview.Name{Name: streams}, m.stream.ctx.Err())
	if closed == nil {
		m.out.Abort()
		return
	}
	if err := m.goodbye(closed); err != nil {
		m.out.Abort()
		return
	}
	m.out.Close(closed.Code(), reason.CloseText(closed.Reason, closed.Message))
}

// goodbye is what is said last. The reader may be in the middle of an answer.
func (m *mux) goodbye(closed *delivery.ClosedError) error {
	ctx, cancel := context.WithTimeout(m.stream.hard, m.server.timing.grace)
	defer cancel()
	if err := m.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	return m.write(ctx, m.server.timing.grace, "", transport.ErrorFrame(closed).JSON)
}

// beat sends heartbeats in silence and returns why the connection is over.
func (m *mux) beat(ctx context.Context) error {
	for {
		wait := m.server.timing.heartbeat - m.silence()
		left := m.mayIdle()
		if left <= 0 {
			return &delivery.ClosedError{Reason: reason.Stopping, Message: fmt.Sprintf(
				"there was no graph on this connection for %v; connect again when there is one to subscribe to", m.server.timing.idle)}
		}
		if wait = min(wait, left); wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return ctx.Err()
			}
			continue
		}
		// As long as the answer is awaited nobody else writes: a ping behind a frame
		// that a slow peer takes long to read would cut it for being slow.
		if err := m.turn.Acquire(ctx, 1); err != nil {
			return err
		}
		var err error
		if m.silence() >= m.server.timing.heartbeat {
			err = m.ping(ctx)
		}
		m.turn.Release(1)
		if err != nil {
			return err
		}
	}
}

// ping waits until the peer has answered or said something else. What it says
// may take a turn to be answered, which is ours, and while the reader waits for
// that it sees no pong.
func (m *mux) ping(ctx context.Context) error {
	if m.hears() {
		m.speak()
		return nil
	}
	answered := make(chan error, 1)
	m.pings.Go(func() {
		pinging, cancel := context.WithTimeout(ctx, m.server.timing.pong)
		defer cancel()
		answered <- m.out.Ping(pinging)
	})
	var err error
	select {
	case <-m.heard:
	case err = <-answered:
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	m.speak()
	return nil
}

// hear notes that the reader has a message in hand, or is done with it.
func (m *mux) hear(one bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hearing = one
	if !one {
		return
	}
	select {
	case m.heard <- struct{}{}:
	default:
	}
}

// hears tells whether the reader has a message in hand. If not, the next token
// in heard is for one that comes from now on.
func (m *mux) hears() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.hearing {
		select {
		case <-m.heard:
		default:
		}
	}
	return m.hearing
}

func (m *mux) silence() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.spoke)
}

// mayIdle is for how long the connection is kept if no graph is asked for.
func (m *mux) mayIdle() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun > 0 {
		return m.server.timing.idle
	}
	return m.server.timing.idle - time.Since(m.idle)
}

func (m *mux) speak() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spoke = time.Now()
}

// write sends one message, which is given members more, for whoever's turn it
// is. An error means that the peer is gone, and so is all else.
func (m *mux) write(ctx context.Context, within time.Duration, more string, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := m.out.WriteSpliced(ctx, more, text); err != nil {
		m.stream.end(transport.ErrGone)
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	m.speak()
	return nil
}

// say sends one message when its turn has come. An error means that the
// connection is over.
func (m *mux) say(more string, text []byte) error {
	if err := m.turn.Acquire(m.stream.ctx, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	return m.write(m.stream.hard, m.server.timing.write, more, text)
}
