package mux

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// Subprotocol is the WebSocket subprotocol of a connection with many graphs.
const Subprotocol = "graphview.mux.v1"

// Options of a Mux. All of them are required.
type Options struct {
	Socket Socket
	Graphs Graphs
	Room   Room
	// Observer counts events of the connection.
	Observer Observer

	// Context is done when the connection should end. Its cause is a *delivery.ClosedError if
	// the peer should be sent the reason.
	Context context.Context
	// Hard is done when no message can be sent to the peer any more. It outlives Context.
	Hard context.Context
	// End ends Context.
	End context.CancelCauseFunc

	// Why returns the message to the peer about an error under a context, which ended a
	// channel of this name or, without a name, the connection. Nil: the peer has left,
	// or has the message.
	Why func(ctx context.Context, name names.GraphName, err error) *delivery.ClosedError
	// Contain is deferred by each channel's goroutine. It recovers from a panic, and
	// calls its argument if there was one.
	Contain func(panicked func())

	// MaxChannels bounds the graphs on the connection.
	MaxChannels int
	// MaxRequest bounds the request of an ad-hoc view, in bytes.
	MaxRequest int
	Timing     Timing
}

// Timing has the waits of a Mux.
type Timing struct {
	// Heartbeat is the time of silence before a ping.
	Heartbeat time.Duration
	// Pong bounds the wait for the answer to a ping.
	Pong time.Duration
	// Write bounds the write of one message.
	Write time.Duration
	// Idle bounds the time of a connection without a graph.
	Idle time.Duration
	// Grace bounds the write of the last message.
	Grace time.Duration
}

// Socket has the methods of a WebSocket that a Mux calls; see package transport.
type Socket interface {
	WriteSpliced(ctx context.Context, more string, text []byte) error
	Ping(ctx context.Context) error
	Close(code reason.Code, text string)
	Abort()
}

// Graphs opens the graphs that the peer subscribes to.
type Graphs interface {
	// Subscribe begins a subscription, under ctx. It may take long, since it may ask
	// the API server about the peer's rights. It calls end when the peer loses one of them.
	// The error is the reason why there is no graph, for Options.Why.
	Subscribe(ctx context.Context, end context.CancelCauseFunc, what Subscribe) (Graph, error)
}

// Graph is the peer's position in one graph. It is used by one goroutine.
type Graph interface {
	Name() names.GraphName
	// Poll returns the frames to send now, and a function that waits until there may be more. The
	// frames must be sent before that is called.
	Poll() ([]*delivery.Frame, delivery.Wait, error)
	// Close releases all resources of the subscription.
	Close()
}

// Room has places for graphs, on this connection and all others.
type Room interface {
	// Reserve takes a place. Its error names the exceeded bound.
	Reserve() error
	Release()
}

// Observer counts events. Begin and End are called by the goroutine that has the turn, so never
// concurrently; the other methods by several goroutines.
type Observer interface {
	// Ended is called for a channel that the peer did not end. The code is that of the message to the peer, or 0
	// if there was none because the peer had left.
	Ended(code reason.Code)
	// Refused is called for a message that was answered with an error.
	Refused(code reason.Code)
	// Begin is called before a message of a graph is written, End afterwards.
	Begin(frame *delivery.Frame)
	End(frame *delivery.Frame, err error)
}

// Mux is one connection with many graphs.
type Mux struct {
	o Options
	// turn is a semaphore of one for sending a message. It is given in the order of requests.
	turn  *semaphore.Weighted
	pings sync.WaitGroup

	running sync.WaitGroup // channels
	// slots bounds the running channels, with a token for each. A channel that has
	// ended runs until the peer has the message. If the peer does not read, ended channels
	// fill the slots, and the peer's messages are not read any more.
	slots chan struct{}

	// received gets a token for each message of the peer.
	received chan struct{}

	mu       sync.Mutex
	closing  bool // no channel is begun any more
	open     int  // channels that have not ended, with and without a number
	last     int64
	channels map[int64]*channel
	handling bool      // a message of the peer's
	lastSent time.Time // the last message to or from the peer
	empty    time.Time // the beginning of the time without a channel
}

// New returns a Mux that Run and Read serve.
func New(o Options) *Mux {
	return &Mux{
		o: o, turn: semaphore.NewWeighted(1), received: make(chan struct{}, 1),
		slots: make(chan struct{}, 2*o.MaxChannels), channels: make(map[int64]*channel),
		lastSent: time.Now(), empty: time.Now(),
	}
}

// Run returns when the connection is over, with everything closed.
func (m *Mux) Run() {
	m.o.End(m.keepAlive(m.o.Context))
	m.mu.Lock()
	m.closing = true
	m.mu.Unlock()
	m.running.Wait()
	m.pings.Wait()
	closed := m.o.Why(m.o.Context, names.GraphName{}, m.o.Context.Err())
	if closed == nil {
		m.o.Socket.Abort()
		return
	}
	if err := m.goodbye(closed); err != nil {
		m.o.Socket.Abort()
		return
	}
	m.o.Socket.Close(closed.Code(), reason.CloseText(closed.Reason, closed.Message))
}

// goodbye sends the last message. The goroutine that reads may be sending an answer.
func (m *Mux) goodbye(closed *delivery.ClosedError) error {
	ctx, cancel := context.WithTimeout(m.o.Hard, m.o.Timing.Grace)
	defer cancel()
	if err := m.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	return m.write(ctx, m.o.Timing.Grace, "", transport.ErrorFrame(closed).JSON)
}

// send sends one message when it has the turn. An error means that the
// connection has ended.
func (m *Mux) send(more string, text []byte) error {
	if err := m.turn.Acquire(m.o.Context, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	return m.write(m.o.Hard, m.o.Timing.Write, more, text)
}

// write sends one message, with the members in more in front. The caller has the turn. An error means
// that the peer has left, and ends the connection.
func (m *Mux) write(ctx context.Context, within time.Duration, more string, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := m.o.Socket.WriteSpliced(ctx, more, text); err != nil {
		m.o.End(transport.ErrGone)
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	m.noteSent()
	return nil
}
