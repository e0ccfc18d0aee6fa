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
	// Observer counts what happens.
	Observer Observer

	// Context is done when the connection should end. Its cause is a *delivery.ClosedError if
	// the peer should be sent the reason.
	Context context.Context
	// Hard is done when the peer cannot be told any more. It outlives Context.
	Hard context.Context
	// End ends Context.
	End context.CancelCauseFunc

	// Why says what to tell the peer about an error under a context, which ended a
	// channel of this name or, without a name, the connection. Nil: the peer is gone,
	// or knows.
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

// Timing is how long a Mux waits for what.
type Timing struct {
	// Heartbeat is the silence after which the peer is sent something.
	Heartbeat time.Duration
	// Pong is how long the peer may take to show that it is there.
	Pong time.Duration
	// Write is how long one message may take.
	Write time.Duration
	// Idle is how long the connection may have no graph.
	Idle time.Duration
	// Grace is how long the last message may take.
	Grace time.Duration
}

// Socket is what a Mux needs of a WebSocket; see package transport.
type Socket interface {
	WriteSpliced(ctx context.Context, more string, text []byte) error
	Ping(ctx context.Context) error
	Close(code reason.Code, text string)
	Abort()
}

// Graphs are what the peer may subscribe to.
type Graphs interface {
	// Subscribe begins a subscription, under ctx. It may take long, since it may ask
	// the API server about the peer's rights; end is called when one of them is lost.
	// The error is why there is no graph, for Options.Why.
	Subscribe(ctx context.Context, end context.CancelCauseFunc, what Subscribe) (Graph, error)
}

// Graph is the peer's position in one graph. It is used by one goroutine.
type Graph interface {
	Name() names.GraphName
	// Poll makes what there is to send now, and returns a function that waits until there may be more. The
	// peer has the frames before it is called.
	Poll() ([]*delivery.Frame, delivery.Wait, error)
	// Close gives back everything that the subscription holds.
	Close()
}

// Room has places for graphs, on this connection and all others.
type Room interface {
	// Reserve takes a place; its error says which bound is exceeded.
	Reserve() error
	Release()
}

// Observer counts events. Begin and End are called by the holder of the turn, so never
// concurrently; the other methods by several goroutines.
type Observer interface {
	// Ended is of a channel that the peer did not end. The code is what the peer was
	// told, or 0 if it was told nothing because it had left.
	Ended(code reason.Code)
	// Refused is of a message that was answered with an error.
	Refused(code reason.Code)
	// Begin is called before a message of a graph is written, End afterwards.
	Begin(frame *delivery.Frame)
	End(frame *delivery.Frame, err error)
}

// Mux is one connection with many graphs.
type Mux struct {
	o Options
	// turn is held while a message is sent. It is given in the order of requests.
	turn  *semaphore.Weighted
	pings sync.WaitGroup

	running sync.WaitGroup // channels
	// slots bounds the channels that run, with a token for each. A channel that has
	// ended runs until the peer was told. If the peer does not read, the channels of
	// the past fill the slots, and the peer's messages are not read any more.
	slots chan struct{}

	// received gets a token for each message of the peer's.
	received chan struct{}

	mu       sync.Mutex
	closing  bool // no channel is begun any more
	open     int  // channels that have not ended, with and without a number
	last     int64
	channels map[int64]*channel
	handling bool      // a message of the peer's
	lastSent time.Time // when a message was sent, or the peer was heard of
	empty    time.Time // since when there is no channel, if there is none
}

// New makes a Mux that Run and Read serve.
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

// send sends one message when its turn has come. An error means that the
// connection is over.
func (m *Mux) send(more string, text []byte) error {
	if err := m.turn.Acquire(m.o.Context, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	return m.write(m.o.Hard, m.o.Timing.Write, more, text)
}

// write sends one message, with members more in front. The caller has the turn. An error means
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
