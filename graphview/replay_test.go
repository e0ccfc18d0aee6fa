package graphview

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// TestEventsPassReplays: between two events that have come, there is one step of what is
// shown again, however many views are shown everything; and those views get it while events
// go on coming.
func TestEventsPassReplays(t *testing.T) {
	const objects, views = 3 * replayChunk, 20
	e := startEngine(t, Options{Config: serveConfigMaps(t, objects)})
	first := follow(t, e, yes)
	await(t, "the list", func() bool { return first.vertices() == objects })

	// Only the loop uses these.
	passed, before, waits := uint64(0), uint64(0), false
	ev := funcEvent(func() {
		now := e.counts.replays.Load()
		if waits {
			passed = max(passed, now-before)
		}
		before, waits = now, len(e.events) > 0
	})
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case e.events <- ev:
			case <-end:
				return
			}
		}
	}()
	var taps []*tap
	var shown []<-chan struct{}
	for range views {
		followed, done := followBy(t, e, &spec.QueryProgram{})
		taps, shown = append(taps, followed), append(shown, done)
	}
	for i := range taps {
		<-shown[i]
		if n := taps[i].vertices(); n != objects {
			t.Errorf("a view that was shown everything has %d objects, want %d", n, objects)
		}
	}
	close(end)
	<-ended
	e.do(func() {})
	if passed == 0 || passed > replayChunk {
		t.Errorf("an event waited for %d objects of replays, want some, and at most a chunk of %d", passed, replayChunk)
	}
}

// TestReplayOfWhatHasChanged: what a replay says of an object counts for nothing once the
// object has changed.
func TestReplayOfWhatHasChanged(t *testing.T) {
	changed := make(chan string)
	e := startEngine(t, Options{Config: serveChanges(t, 2, changed)})
	tap := follow(t, e, yes)
	await(t, "the list", func() bool { return tap.vertices() == 2 })
	old := retainedBy(t, tap)
	changed <- "c0"
	await(t, "the change", func() bool { return e.counts.sets.Load() == 3 })
	visited := map[string]bool{}
	replays := e.counts.replays.Load()
	if err := e.runReplay(t.Context(), replay{watch: tap.feed.watch, objects: old, view: tap.view, event: func(o *watch.Decoded) event {
		visited[o.Name()] = true
		return &replayEvent{o.Object, tapVerdict{tap: tap}} // none is selected
	}}); err != nil {
		t.Fatal(err)
	}
	if len(visited) != 2 || e.counts.replays.Load() != replays+1 || tap.vertices() != 1 {
		t.Errorf("%d objects visited, %d counted, the view has %d; want 2, 1 and 1: c0 as it is now", len(visited), e.counts.replays.Load()-replays, tap.vertices())
	}
}

// TestBacklogOfWhatHasChanged: an object that is read again does not take the place of what
// it has become.
func TestBacklogOfWhatHasChanged(t *testing.T) {
	changed := make(chan string)
	e := startEngine(t, Options{Config: serveChanges(t, 1, changed)})
	tap := follow(t, e, yes)
	await(t, "the list", func() bool { return tap.vertices() == 1 })
	old := retainedBy(t, tap)[0]
	changed <- "c0"
	await(t, "the change", func() bool { return e.counts.sets.Load() == 2 })
	now := retainedBy(t, tap)[0]
	b := newBacklog(e)
	b.begin(t.Context())
	b.working = true // nobody takes anything but this test
	b.put(tap, now, false)
	b.put(tap, old, false)
	if _, objects, _ := b.take(); len(objects) != 1 || objects[0] != now {
		t.Errorf("took %d objects, want the one that is", len(objects))
	}
}

// TestChunksTakeTurns: the chunk that has waited longest comes first. Those that wake
// subscribers join a batch in parts that take as long as these rest, until it is full.
func TestChunksTakeTurns(t *testing.T) {
	const long = maxBatch * perEvent
	q := newChunks()
	named := func(wakes bool, rest time.Duration, events int) *chunk {
		c := &chunk{wakes: wakes, rest: rest, left: make([]event, events), done: make(chan struct{})}
		q.put(c)
		return c
	}
	named(true, long, maxBatch-1)
	quiet := named(false, 0, 1)
	named(true, long, 7)
	another := named(false, 0, 1)
	named(true, 0, 2*leastPart+1)
	named(true, 0, 9)
	for _, want := range []*chunk{quiet, another, nil} {
		c := q.next()
		if c != want {
			t.Fatal("another chunk than the one whose turn it is")
		}
		if c != nil {
			q.remove(c)
		}
	}
	for _, want := range []int{1 + maxBatch - 1 + 1 + 7 + 1, 1 + leastPart, 1 + 9 + 1 + leastPart, 1 + 1 + 1, 1} {
		if got := len(q.join(make([]event, 1))); got != want {
			t.Errorf("a batch of %d events, want %d", got, want)
		}
	}
	if q.wake() {
		t.Error("something waits that has joined a batch")
	}
}

// TestWholeChunksAreNotCut: what a view finds anew with each revision is found once for a
// chunk, and for as many of them as a batch has room for.
func TestWholeChunksAreNotCut(t *testing.T) {
	q := newChunks()
	for _, events := range []int{3 * leastPart, 5, maxBatch, 1} {
		q.put(&chunk{wakes: true, whole: true, left: make([]event, events), done: make(chan struct{})})
	}
	for _, want := range []int{3*leastPart + 1 + 5 + 1 + maxBatch + 1, 1 + 1, 0} {
		if got := len(q.join(nil)); got != want {
			t.Errorf("a batch of %d events, want %d", got, want)
		}
	}
}

// TestStepsOfAChunk: a chunk that has more to look at than a revision may becomes several
// steps, and an event that comes goes between them.
func TestStepsOfAChunk(t *testing.T) {
	e, look := newStandingEngine(t)
	var did []string
	c := &chunk{done: make(chan struct{})}
	for i := range 3 {
		c.left = append(c.left, funcEvent(func() {
			did = append(did, fmt.Sprint("part ", i))
			look(fmt.Sprint("o", i), stepVisits)
			if i == 0 {
				e.send(funcEvent(func() { did = append(did, "event") }))
			}
		}))
	}
	e.chunks.put(c)
	ctx, stop := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { e.loop(ctx) })
	<-c.done
	stop()
	loop.Wait()
	if got, want := fmt.Sprint(did), "[part 0 event part 1 part 2]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestReadersPassSteps: with one processor, who waits for a change reads it before the loop
// takes the graph's lock for the next step of a replay.
func TestReadersPassSteps(t *testing.T) {
	const changes = 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := startEngine(t, Options{Config: serveConfigMaps(t, 1)})
	tap := follow(t, e, yes)
	await(t, "the list", func() bool { return tap.vertices() == 1 })
	subscription := tap.view.publisher.Subscribe(delivery.SubscribeOptions{})
	defer subscription.Close()

	var steps atomic.Int64
	var more func()
	end := make(chan struct{})
	more = func() {
		steps.Add(1)
		select {
		case <-end:
		default: // there is always another step to be made
			e.chunks.put(&chunk{left: []event{funcEvent(more)}, done: make(chan struct{})})
		}
	}
	e.send(funcEvent(more))
	at, passed := int64(0), 0 // by the loop, until the change is there
	for i := range changes {
		changed := tap.view.lens.Changed(tap.view.lens.Head())
		e.send(funcEvent(func() {
			object := graph.Object{Namespace: "shop", Name: "c0", UID: "u0", Version: uint64(10 + i), Hash: uint64(10 + i)}
			tap.view.lens.Select(e.graph.Set(tap.feed.source, &object), graph.Selection{Member: true})
			at = steps.Load()
		}))
		<-changed
		if steps.Load() == at {
			passed++
		}
	}
	close(end)
	// The scheduler looks elsewhere first once in a while.
	if passed < changes/2 {
		t.Errorf("%d of %d changes were read before the next step", passed, changes)
	}
}

// TestVerdictOfAnEarlierJudge: what was decided for namespaces that a view selected before,
// and comes late, brings nothing back.
func TestVerdictOfAnEarlierJudge(t *testing.T) {
	e := startEngine(t, Options{Config: serveConfigMaps(t, 3)})
	tap := follow(t, e, yes)
	await(t, "the list", func() bool { return tap.vertices() == 3 })
	earlier := tap.judge.Load()
	show := func(event func(*watch.Decoded) event) {
		t.Helper()
		if err := e.runReplay(t.Context(), replay{watch: tap.feed.watch, objects: retainedBy(t, tap), view: tap.view, event: event}); err != nil {
			t.Fatal(err)
		}
	}
	var late []event
	show(func(o *watch.Decoded) event {
		late = append(late, tap.reevaluate(t.Context(), o, false))
		return nil
	})
	tap.judge.Store(&judge{resource: earlier.resource, query: earlier.query, namespaces: map[string]bool{"bank": true}})
	show(func(o *watch.Decoded) event { return tap.reevaluate(t.Context(), o, false) })
	if n := tap.vertices(); n != 0 {
		t.Fatalf("%d vertices of a namespace that is not selected", n)
	}
	e.do(func() {
		for _, ev := range late {
			ev.apply(e)
		}
	})
	if n := tap.vertices(); n != 0 {
		t.Errorf("%d vertices after what was decided before came late, want none", n)
	}
}

// TestReplaysLetOthersRun: with one processor, whoever can run does so before replays have
// gone on with more than a few chunks: one each time, unless the machine stands still.
func TestReplaysLetOthersRun(t *testing.T) {
	const objects, views, few = 12 * replayChunk, 10, 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := startEngine(t, Options{Config: serveConfigMaps(t, objects)})
	first := follow(t, e, yes)
	await(t, "the list", func() bool { return first.vertices() == objects })
	var shown []<-chan struct{}
	for range views {
		_, done := followBy(t, e, &spec.QueryProgram{})
		shown = append(shown, done)
	}
	var passed []uint64
	for last := e.counts.replays.Load(); ; {
		runtime.Gosched()
		now := e.counts.replays.Load()
		if now > last {
			passed = append(passed, now-last)
		}
		if last = now; now >= views*objects {
			break
		}
	}
	for _, done := range shown {
		<-done
	}
	slices.Sort(passed)
	if longest := passed[len(passed)-1]; longest > few*replayChunk {
		t.Errorf("replays went on with %d objects while others could run, want at most %d chunks of %d", longest, few, replayChunk)
	}
}
