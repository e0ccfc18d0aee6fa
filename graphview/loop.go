package graphview

import (
	"context"
	"errors"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// maxBatch bounds the events of one revision.
const maxBatch = 512

// event is something for the graph's one writer to do. Events of one watch
// arrive in the order in which they happened.
type event interface{ apply(e *Engine) }

// setEvent is an object that appeared or changed, with what each tap of its
// feed decided about it.
type setEvent struct {
	feed     *feed
	received time.Time // when the watch brought it
	object   graph.Object
	verdicts []tapVerdict
	// fault is why not all references of the object are known, "" if they are.
	fault string
	// release is what the revision in a ConfigMap of Helm's manages, nil for none.
	release *managed
}

// note has the views that select the object told of references that are not
// known.
func (ev *setEvent) note() {
	for i := range ev.verdicts {
		if ev.verdicts[i].selects() {
			ev.verdicts[i].note(ev.fault)
		}
	}
}

type tapVerdict struct {
	tap     *tap
	verdict verdict
}

// selects tells whether the tap's view has the object.
func (v *tapVerdict) selects() bool {
	return v.tap.need.ofObjects() && !v.verdict.undecided && v.verdict.selection.Member
}

// note adds a fault to the verdict, whose own comes first.
func (v *tapVerdict) note(fault string) {
	if fault != "" && v.verdict.err == nil {
		v.verdict.err = &delivery.PartialError{Err: errors.New(fault)}
	}
}

func (ev *setEvent) apply(e *Engine) {
	f := ev.feed
	e.announce(f)
	e.counts.sets.Add(1)
	f.remember(objectName{ev.object.Namespace, ev.object.Name}, ev.fault)
	if isSecret(f.resource) || isConfigMap(f.resource) {
		e.releases.hold(e.graph, f, &ev.object, ev.release)
	}
	id := e.graph.Set(f.source, &ev.object)
	for i := range ev.verdicts {
		ev.verdicts[i].apply(id, ev.object.Namespace, ev.object.Name)
	}
}

func (v *tapVerdict) apply(id graph.NodeID, namespace, name string) {
	t := v.tap
	if t.closed || v.verdict.undecided {
		return
	}
	if by, now := v.verdict.by, t.judge.Load(); by != nil && by != now && by.admits(namespace) != now.admits(namespace) {
		// Decided for namespaces that the view selected before. What is in others is, or was,
		// shown to the present judge.
		return
	}
	t.role.decided(t, id, namespace, name, v.verdict)
}

// deleteEvent is an object that has gone.
type deleteEvent struct {
	feed            *feed
	namespace, name string
}

func (ev *deleteEvent) apply(e *Engine) {
	f := ev.feed
	e.announce(f)
	e.counts.deletes.Add(1)
	f.remember(objectName{ev.namespace, ev.name}, "")
	e.graph.Remove(f.source, ev.namespace, ev.name)
	if isSecret(f.resource) || isConfigMap(f.resource) {
		e.releases.forget(e.graph, f, ev.namespace, ev.name)
	}
	for _, t := range f.taps.Load().concerned(ev.namespace) {
		if !t.closed {
			t.role.gone(t, ev.namespace, ev.name)
		}
	}
}

// funcEvent is anything else.
type funcEvent func()

func (f funcEvent) apply(*Engine) { f() }

// announce makes the feed a source of the graph when it first has something to
// say.
func (e *Engine) announce(f *feed) {
	if f.source != 0 {
		return
	}
	scope := graph.ScopeCluster
	if f.resource.Namespaced {
		scope = graph.ScopeNamespaced
	}
	f.source = e.graph.AddSource(kindOf(f.resource), resourceOf(f.resource), scope)
	e.bySource[f.source] = f
}

// send hands an event to the loop, which outlives all that send to it.
func (e *Engine) send(ev event) { e.events <- ev }

// doEvent is something to do whose revision somebody waits for.
type doEvent struct {
	fn   func()
	done chan struct{}
}

func (ev *doEvent) apply(e *Engine) {
	ev.fn()
	e.finished = append(e.finished, ev.done)
}

// do has the loop do something, as part of its next revision, and waits for
// that to be made.
func (e *Engine) do(fn func()) {
	ev := &doEvent{fn: fn, done: make(chan struct{})}
	e.send(ev)
	<-ev.done
}

// loop is the graph's one writer: it takes what has arrived, at once when idle
// and in batches under load, and makes it one revision. After each batch comes a step of
// what is shown again.
func (e *Engine) loop(ctx context.Context) {
	batch := make([]event, 0, maxBatch)
	lapse := time.NewTicker(lapseInterval)
	defer lapse.Stop()
	for {
		batch = e.gather(ctx, batch[:0], lapse.C)
		if ctx.Err() != nil {
			return
		}
		if len(batch) > 0 {
			e.received = receivedAt(batch[0])
		}
		e.batches++
		for left := e.revise(batch, maxVisits); len(left) > 0 || e.graph.Unfinished(); {
			left = e.revise(left, maxVisits)
		}
		clear(batch)
		e.step()
	}
}

// maxVisits is how many elements a revision may have to look at before no further
// event becomes a part of it: while it is made, nobody reads the graph. Beside a
// hundred views, each event is a decision for each of them. A thousand take about a third
// of a millisecond. stepVisits is the same of a step, which events wait for.
const (
	maxVisits  = 1 << 13
	stepVisits = 1 << 11
)

// revise makes a revision of as many events as may have so many elements to look at, at
// least of one unless the one before has something left to be made, and returns the
// others.
func (e *Engine) revise(batch []event, visits int) (left []event) {
	e.counts.revisions.Add(1)
	began := time.Now()
	changed := e.graph.Update(func() {
		left = batch
		for len(left) > 0 && !e.graph.Unfinished() && (len(left) == len(batch) || e.graph.Visits() < visits) {
			left[0].apply(e)
			left = left[1:]
		}
	})
	e.revisionTime.Observe(time.Since(began).Seconds())
	e.tellExceedances()
	for _, w := range e.graph.Walks() {
		if v := e.byLens[w.Lens]; v != nil {
			v.chargeWalk(e.batches, w.Visits)
		}
	}
	woken := 0
	for _, l := range changed {
		if v := e.byLens[l]; v != nil {
			v.revised()
			woken += v.publisher.Subscribers()
		}
	}
	if woken > 0 {
		e.rested = time.Now().Add(pace(int64(woken)))
	}
	for _, done := range e.finished {
		close(done)
	}
	e.finished = e.finished[:0]
	return left
}

// arrived notes of a view that changed when what changed it came in, before any
// subscriber is sent it.
func (e *Engine) arrived(l *graph.Lens, head uint64) {
	if v := e.byLens[l]; v != nil {
		v.publisher.Arrived(head, e.received)
	}
}
