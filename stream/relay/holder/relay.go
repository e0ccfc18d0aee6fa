package holder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// unwrittenBytes is the size of the messages that wait for the writer from which on
// channels wait too.
const unwrittenBytes = 256 << 10

// relay is one edge's request for a view.
type relay struct {
	cache  *answerCache
	admit  Admit // see Options
	name   graphview.Name
	ctx    context.Context
	cancel context.CancelFunc
	logger logr.Logger

	// channels has the channels that the edge has not closed, for take alone. A channel that has
	// ended is kept, because the edge may still refer to its answers.
	channels map[uint64]*channel
	leave    func() // the handler need not wait for the relay any more
	running  sync.WaitGroup
	view     View // set before the first channel is opened

	admitted chan struct{} // closed once a user has been admitted; see admit
	first    sync.Once     // closes admitted

	mu   sync.Mutex // is not held while anything is written
	open int        // channels that send
	sent wire.Queue
	out  unwritten
	// kick has a token when out has messages; room is closed when they are being written.
	kick, room chan struct{}
}

// unwritten has messages in the order in which they are written.
type unwritten struct {
	parts [][]byte // whole messages, or parts of one
	tail  []byte   // follows parts
	// refer are the channels of a reference that follows tail, to the frame number. So one
	// message refers the channels that send a frame one after another.
	refer  []byte
	number uint64
	bytes  int
}

// text appends messages.
func (u *unwritten) text(message []byte) {
	u.settle()
	u.tail = append(u.tail, message...)
	u.bytes += len(message)
}

// body appends the rest of a message, which must not be modified later.
func (u *unwritten) body(text []byte) {
	if u.bytes += len(text); len(text) < 4<<10 {
		u.tail = append(u.tail, text...)
		return
	}
	u.parts = append(u.parts, u.tail, text)
	u.tail = nil
}

// reference sends a frame of the queue on one more channel.
func (u *unwritten) reference(number, channel uint64) {
	if number != u.number {
		u.settle()
	}
	u.number = number
	u.refer = binary.AppendUvarint(u.refer, channel)
}

// settle ends the reference that other channels could be added to.
func (u *unwritten) settle() {
	if len(u.refer) > 0 {
		before := len(u.tail)
		u.tail = wire.AppendRefer(u.tail, u.number, u.refer)
		u.bytes += len(u.tail) - before
		u.refer = u.refer[:0]
	}
}

// take returns all messages.
func (u *unwritten) take() [][]byte {
	u.settle()
	parts := append(u.parts, u.tail) //nolint:gocritic // all of them are taken
	u.parts, u.tail, u.bytes = nil, nil, 0
	return parts
}

func (r *relay) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// say queues messages.
func (r *relay) say(messages []byte) {
	r.mu.Lock()
	r.out.text(messages)
	r.mu.Unlock()
	r.wake()
}

func (r *relay) end(number uint64, why *delivery.ClosedError) {
	r.say(wire.AppendControl(nil, wire.End, number, wire.EndingOf(why)))
}

// send queues a delivery of a channel, and returns its size. It waits while the edge takes
// less than the channels send.
func (r *relay) send(c *channel, frames []*delivery.Frame) (size int, err error) {
	r.mu.Lock()
	for r.out.bytes > unwrittenBytes {
		room := r.room
		r.mu.Unlock()
		select {
		case <-room:
		case <-c.ctx.Done():
			return 0, c.ctx.Err()
		}
		r.mu.Lock()
	}
	for _, f := range frames {
		size += len(f.JSON)
		if number, ok := r.sent.Number(f); ok {
			r.out.reference(number, c.number)
			continue
		}
		// Only channels of the whole graph are sent equal frames.
		keep := r.open > 1 && c.options.Narrow == nil
		if keep {
			r.sent.Add(f)
		}
		r.out.text(wire.AppendFrame(nil, c.number, f, keep, time.Now()))
		r.out.body(f.JSON)
	}
	r.mu.Unlock()
	r.wake()
	return size, nil
}

// writeTo writes messages until the relay ends or write fails. It says when the replica is
// about to stop, and when it loses its API server or has it back.
func (r *relay) writeTo(write func(parts [][]byte) error, leaving <-chan struct{}, staleness func() (stale bool, changed <-chan struct{})) {
	stale, changed := staleness()
	if stale {
		r.say(wire.AppendControl(nil, wire.Stale, 0, wire.Staleness{Stale: true}))
	}
	for {
		select {
		case <-r.kick:
		case <-leaving:
			leaving = nil
			r.say(wire.AppendControl(nil, wire.Leaving, 0, nil))
			continue
		case <-changed:
			stale, changed = staleness()
			r.say(wire.AppendControl(nil, wire.Stale, 0, wire.Staleness{Stale: stale}))
			continue
		case <-r.ctx.Done():
			return
		}
		r.mu.Lock()
		parts := r.out.take()
		close(r.room)
		r.room = make(chan struct{})
		r.mu.Unlock()
		if err := write(parts); err != nil {
			r.cancel()
			return
		}
	}
}

// waitSynced says that the view has synced, to a hub only after one of its users was
// admitted: until then it must not learn whether the view exists.
func (r *relay) waitSynced() {
	if r.admit != nil {
		select {
		case <-r.admitted:
		case <-r.ctx.Done():
			return
		}
	}
	if r.view.WaitSynced(r.ctx) == nil {
		r.say(wire.AppendControl(nil, wire.Synced, 0, nil))
	}
}

// take handles a message of the edge. It is called by one goroutine.
func (r *relay) take(m wire.Message) error {
	c := r.channels[m.Channel]
	switch m.Type {
	case wire.Open:
		var opening wire.Opening
		if err := wire.Parse(m, &opening); err != nil {
			return err
		}
		return r.begin(m.Channel, &opening)
	case wire.Tell:
		var sent wire.Answers
		if err := wire.Parse(m, &sent); err != nil {
			return err
		}
		if c == nil {
			return nil
		}
		if c.access == nil {
			return errAnswers
		}
		now, _ := c.access.answers()
		more := answersOf(r.cache, sent)
		if more == nil || sent.Of == "" && now == nil {
			return fmt.Errorf("channel %d: unknown answers", m.Channel)
		}
		c.access.tell(more)
	case wire.More:
		bytes, err := wire.ParseNumber(m)
		if err != nil {
			return err
		}
		if c != nil {
			c.grant(int(min(bytes, maxGrant)))
		}
	case wire.Close:
		if c != nil {
			c.end(nil)
			delete(r.channels, m.Channel)
		}
	case wire.Leaving:
		r.leave()
	default:
		if !m.Type.Optional() {
			return fmt.Errorf("message of type %q from an edge", m.Type)
		}
	}
	return nil
}

var errAnswers = errors.New("a hub names the user, and sends no answers about it")

// maxGrant bounds the bytes that an edge grants at once.
const maxGrant = 64 << 20

// begin opens a channel. An error is about the edge, and ends the relay.
func (r *relay) begin(number uint64, o *wire.Opening) error {
	switch {
	case number == 0 || r.channels[number] != nil:
		return fmt.Errorf("channel %d is open", number)
	case int64(len(r.channels)) >= budget.OpenGraphs.Limit():
		r.end(number, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: budget.OpenGraphs.Exceed().Error()})
		return nil
	}
	var known *answers
	switch {
	case r.admit != nil && (o.User == nil || o.Digest != "" || o.Of != "" || len(o.Places) > 0):
		return errAnswers
	case r.admit == nil && o.User != nil:
		return errors.New("this replica decides about no user of another cluster")
	case r.admit == nil:
		if known = answersOf(r.cache, o.Answers); known == nil {
			return fmt.Errorf("channel %d: unknown answers", number)
		}
	}
	c := &channel{relay: r, number: number, credit: min(o.Window, maxGrant), more: make(chan struct{}, 1), options: delivery.SubscribeOptions{
		Since: o.Since, Content: o.Content, ExcludeInferred: o.ExcludeInferred, JoinWalk: o.JoinWalk, Narrow: o.Narrow, Owner: budget.UserOwner(pseudonym(o.Owner)),
	}}
	c.ctx, c.end = context.WithCancelCause(r.ctx)
	if r.admit == nil {
		c.access = &remoteAccess{ask: c.ask, now: known, news: make(chan struct{})}
		c.options.Access = c.access
	}
	r.channels[number] = c
	r.running.Go(func() {
		defer c.end(nil)
		r.count(1)
		defer r.count(-1)
		c.run(r.view, o)
	})
	return nil
}

func (r *relay) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open += n
}

// pseudonym stands for the user whose turns and costs a subscription counts as.
type pseudonym string

// GetName implements budget.User.
func (p pseudonym) GetName() string { return string(p) }
