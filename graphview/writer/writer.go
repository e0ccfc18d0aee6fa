package writer

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"graphview.dev/graphview/graph"
)

// Event is a change of the graph. The writer calls Apply in Graph.Update.
type Event interface{ Apply() }

// Func is an Event.
type Func func()

// Apply implements Event.
func (f Func) Apply() { f() }

// Writer is the one writer of a graph. Its methods may be called by any goroutine, except as noted.
type Writer struct {
	graph   *graph.Graph
	metrics metrics
	events  chan sentEvent
	// background hands over chunks. A sender waits until the graph has its chunk.
	background    chan *chunk
	afterRevision func() // nil for none

	// Only the goroutine of Run uses the fields below.
	followers    map[*graph.Lens]*throttle
	publications publications
	chunk        *chunk          // of the background, nil for none
	applied      []chan struct{} // callers of Do that wait for the revision
	received     time.Time       // when the first event of the batch was received
	batch        uint64          // number of the batch
	// late is when the first change that a lens lacks was received, for the lenses that are late.
	late map[*graph.Lens]time.Time
}

// New returns the writer of a graph.
func New(g *graph.Graph) *Writer {
	w := &Writer{
		graph: g, events: make(chan sentEvent, 2*maxBatch), background: make(chan *chunk),
		followers: make(map[*graph.Lens]*throttle),
	}
	w.observe(g)
	g.ObserveLenses(w.lensChanged)
	return w
}

// AfterRevision sets a function that is called after each revision. Call it before Run.
func (w *Writer) AfterRevision(f func()) { w.afterRevision = f }

// sentEvent is an event in the queue. If received is zero, the time at which the writer takes it counts.
type sentEvent struct {
	Event

	received time.Time
}

// Send sends an event. It blocks while the queue is full. Run must outlive all senders.
func (w *Writer) Send(ev Event) { w.SendReceived(ev, time.Time{}) }

// SendReceived is Send for an event that was received at a time, from which its latency counts.
func (w *Writer) SendReceived(ev Event, received time.Time) { w.events <- sentEvent{ev, received} }

// Do runs fn as an event, and returns when the revision with it is committed.
func (w *Writer) Do(fn func()) {
	done := make(chan struct{})
	w.Send(Func(func() {
		fn()
		w.applied = append(w.applied, done)
	}))
	<-done
}

// Try runs fn as an event, and returns when it has run or ctx ends. If ctx ends, fn may run later.
func (w *Writer) Try(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	select {
	case w.events <- sentEvent{Event: Func(func() { fn(); close(done) })}:
	case <-ctx.Done():
		return fmt.Errorf("the graph takes no events: %w", ctx.Err())
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the graph does not get round to its events: %w", ctx.Err())
	}
}

// Queued returns the number of events in the queue.
func (w *Writer) Queued() int { return len(w.events) }

const (
	// maxBatch bounds the events of one batch.
	maxBatch = 512
	// lapseInterval is how often the graph checks for objects that have been progressing for too
	// long.
	lapseInterval = time.Minute
)

// Run writes the graph until ctx ends. Then it commits the lenses that are late, since readers wait for them.
func (w *Writer) Run(ctx context.Context) {
	defer func() {
		for len(w.graph.Late()) > 0 {
			w.revise(nil, 0)
		}
	}()
	batch := make([]Event, 0, maxBatch)
	lapse := time.NewTicker(lapseInterval)
	defer lapse.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	always := make(chan struct{})
	close(always)
	for busy := always; ; {
		var due <-chan time.Time
		if left := w.publications.publish(); left > 0 {
			timer.Reset(left)
			due = timer.C
		}
		background := w.background
		if w.chunk != nil {
			background = nil
		}
		batch = batch[:0]
		var received time.Time
		select {
		case ev := <-w.events:
			batch, received = append(batch, ev.Event), ev.received
		case now := <-lapse.C:
			batch = append(batch, Func(func() { w.graph.Lapse(now.Unix()) }))
		case <-due:
		case w.chunk = <-background:
		case <-busy:
		case <-ctx.Done():
			return
		}
		busy = nil
		if batch = w.receive(batch); len(batch) > 0 || w.graph.HasCleanup() {
			w.apply(batch, received)
			clear(batch)
			busy = always
		}
		if w.step() {
			busy = always
		}
	}
}

// receive adds the queued events to a batch, up to maxBatch.
func (w *Writer) receive(batch []Event) []Event {
	for len(batch) < maxBatch {
		select {
		case ev := <-w.events:
			batch = append(batch, ev.Event)
		default:
			return batch
		}
	}
	return batch
}

// A revision takes no further event after maxVisits visits of elements, because readers wait while
// the graph is locked. With a hundred views, each event is a decision for each of them. A thousand
// visits take about a third of a millisecond. stepVisits is the bound of a step of the background,
// for which events wait.
const (
	maxVisits  = 1 << 13
	stepVisits = 1 << 10
)

// apply applies a batch in as many revisions as it needs. An empty batch makes a revision for the
// cleanup of the graph. received is when the first event was received, zero for now.
func (w *Writer) apply(batch []Event, received time.Time) {
	w.batch++
	w.received = cmp.Or(received, time.Now())
	for left := w.revise(batch, maxVisits); len(left) > 0 || w.graph.HasOpenUpdate(); {
		left = w.revise(left, maxVisits)
	}
}

// revise applies events in one revision until it has made the given number of visits, and returns the
// others. It applies at least one event, unless the graph first has to finish an earlier change.
func (w *Writer) revise(events []Event, visits int) (left []Event) {
	began := time.Now()
	w.graph.Update(func() {
		left = events
		for len(left) > 0 && !w.graph.HasOpenUpdate() && (len(left) == len(events) || w.graph.Visits() < visits) {
			left[0].Apply()
			left = left[1:]
		}
	})
	w.metrics.revisions.Inc()
	w.metrics.took.Observe(time.Since(began).Seconds())
	if w.afterRevision != nil {
		w.afterRevision()
	}
	w.noteLate()
	for _, walked := range w.graph.Walks() {
		if p := w.followers[walked.Lens]; p != nil && p.walked != w.batch {
			p.walked = w.batch
			p.follower.Walked(walked.Visits)
		}
	}
	w.publications.publish()
	for _, done := range w.applied {
		close(done)
	}
	w.applied = w.applied[:0]
	return left
}

// noteLate notes since when each late lens lacks changes, and forgets the lenses that have been committed.
func (w *Writer) noteLate() {
	var late map[*graph.Lens]time.Time
	for _, l := range w.graph.Late() {
		if late == nil {
			late = make(map[*graph.Lens]time.Time)
		}
		late[l] = cmp.Or(w.late[l], w.received)
	}
	w.late = late
}

// chunk is a list of events of the background.
type chunk struct {
	left  []Event // events that the writer has not applied yet
	begun bool
	done  chan struct{} // closed when the graph has all events
}

// Background applies events between batches of sent events, and returns when the graph has them. It
// returns at once if events is empty. Concurrent calls are served in their order.
func (w *Writer) Background(events []Event) {
	if len(events) == 0 {
		return
	}
	c := &chunk{left: events, done: make(chan struct{})}
	w.background <- c
	<-c.done
}

// step applies a part of the present chunk, or of the next one, in one revision. It reports whether
// there was a chunk.
func (w *Writer) step() bool {
	if w.chunk == nil {
		select {
		case w.chunk = <-w.background:
		default:
			return false
		}
	}
	c := w.chunk
	w.publications.yield() // before the writer takes the lock of the graph again
	if !c.begun {
		c.begun = true
		w.batch++
	}
	w.received = time.Now()
	if !w.graph.HasSharedUpdate() { // else the next batch makes a slice of it
		c.left = w.revise(c.left, stepVisits)
	}
	if len(c.left) == 0 && !w.graph.HasOpenUpdate() && !w.graph.HasSharedUpdate() {
		w.chunk = nil
		close(c.done)
	}
	return true
}
