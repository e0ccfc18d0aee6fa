package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/test/patience"
)

// TestReconnectKeepsPiecesShared: a change is encoded once for current subscribers, even if
// another one reconnects between them.
func TestReconnectKeepsPiecesShared(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	first, second := s.twoReaders(t)
	for _, phase := range []string{"Failed", "Succeeded"} {
		s.set(phase, false, "a")
		first.catchUp(t)
		back := s.reader(SubscribeOptions{Since: first.rev})
		back.catchUp(t)
		if back.sent != 0 {
			t.Errorf("%s: who comes back with all there is was sent %d objects", phase, back.sent)
		}
		before := s.publisher.o.Shared.Encodings()
		second.catchUp(t)
		if n := s.publisher.o.Shared.Encodings() - before; n != 0 || second.vertices["a"] != first.vertices["a"] {
			t.Errorf("%s: %d encodings for the second reader, want 0; it has %s, want %s", phase, n, second.vertices["a"], first.vertices["a"])
		}
	}
}

// TestLargeChangeIsSharedWithSlowReaders: a slower subscriber gets the same pieces of a large change
// as a faster one after its last piece.
func TestLargeChangeIsSharedWithSlowReaders(t *testing.T) {
	s := newStage(t)
	const objects, size = 20, 8 << 10
	names := podNames(objects)
	s.set("Running", false, names...)
	first, second := s.twoReaders(t)
	s.set("Failed"+strings.Repeat("x", size), false, names...)
	before := s.publisher.o.Shared.Encodings()
	first.catchUp(t)
	pieces := s.publisher.o.Shared.Encodings() - before
	if pieces < 3 || pieces > 10 {
		t.Fatalf("the change came in %d pieces, want a few", pieces)
	}
	second.catchUp(t)
	if n := s.publisher.o.Shared.Encodings() - before - pieces; n != 0 || !maps.Equal(first.vertices, second.vertices) {
		t.Errorf("%d encodings for the slower reader, want 0; it has %d vertices, want %d", n, len(second.vertices), len(first.vertices))
	}
}

// TestOldPieceIsNotTheEnd: a subscriber that gets a piece which was encoded before a warning came
// polls again for the warning.
func TestOldPieceIsNotTheEnd(t *testing.T) {
	for name, size := range map[string]int{"small": 10, "full": 16 << 10} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.set("Running", false, "a")
			first, second := s.twoReaders(t)
			s.set("Failed"+strings.Repeat("x", size), false, "a")
			first.catchUp(t)
			w := About(streamv1alpha1.InformerSyncFailed, "forbidden", pods, "shop")
			s.warnings.Set(map[WarningID]Warning{w.ID(): w})
			second.catchUp(t)
			if second.vertices["a"] != first.vertices["a"] || second.warnings[w.ID()] != w.Message {
				t.Errorf("it has %.40s and the warnings %v", second.vertices["a"], second.warnings)
			}
		})
	}
}

// TestEmptyPieceIsNotTheEnd: a subscriber that waits for a piece that another one encodes, and gets
// an empty piece, still gets warnings that came in between. In a view without objects there may
// be no later change to bring them.
func TestEmptyPieceIsNotTheEnd(t *testing.T) {
	s := newStage(t)
	s.state.To(State{Generation: 1})
	first, second := s.twoReaders(t)
	var readers sync.WaitGroup
	digest := first.digest
	s.graph.Update(func() {
		readers.Go(func() { first.catchUp(t) })
		for !s.publisher.encoding(digest) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond) // it reads the phase of the view, and waits for the graph
		s.state.To(State{Phase: Serving, Generation: 1})
		readers.Go(func() { second.catchUp(t) })
		time.Sleep(50 * time.Millisecond) // it comes to wait for the piece of the first one
	})
	readers.Wait()
	if !second.state.synced {
		t.Error("the second reader was not told that the view is synced")
	}
}

// encoding reports whether a subscriber encodes a piece for a viewer.
func (p *Publisher) encoding(digest string) bool {
	at := p.changes.slot(digest)
	at.mu.Lock()
	defer at.mu.Unlock()
	for _, c := range at.pieces {
		if !c.made {
			return true
		}
	}
	return false
}

// TestWaitForAPieceEnds: Poll does not wait for a piece that another subscriber encodes, and Wait ends with
// its context. The subscriber then gets that piece, and not another one.
func TestWaitForAPieceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, released := newStage(t), make(chan struct{})
		s.set("Running", false, "a")
		first, second := s.twoReaders(t)
		s.put("b", &hookedObject{&fakeObject{uid: "uid-b", json: `{"metadata":{"name":"b"}}`}, func() { <-released }})
		before := s.publisher.o.Shared.Encodings()
		var encoding sync.WaitGroup
		encoding.Go(func() { first.catchUp(t) })
		synctest.Wait()
		if n := second.poll(t); n > 0 {
			t.Errorf("it has %d bytes of a piece that is not encoded", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := second.waits(ctx)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the wait ended with %v, want %v", err, context.Canceled)
		}
		close(released)
		encoding.Wait()
		if second.catchUp(t); second.vertices["b"] == "" {
			t.Errorf("it has %v", second.vertices)
		}
		if n := s.publisher.o.Shared.Encodings() - before; n != 1 {
			t.Errorf("%d encodings, want one", n)
		}
	})
}

// TestPieceOfAnOlderGraph: a subscriber that has begun to read a change does not continue with a
// piece that was encoded before it began, because later changes would be missing from both.
func TestPieceOfAnOlderGraph(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	first, second := s.twoReaders(t)

	const size = 8 << 10
	names := podNames((minShared - 48<<10) / size)
	refer := func(phase string) {
		s.put("new", &fakeObject{uid: "uid-new", json: fmt.Sprintf(`{"metadata":{"name":"new"},"status":{"phase":%q}}`, phase)}, "a")
	}
	// The first piece ends with what is a piece by itself, and makes room for the last one.
	// Made again it is smaller, so that the others stay.
	refer(strings.Repeat("x", changeLimit.bytes-2<<10))
	s.set(strings.Repeat("x", changeLimit.bytes), false, "b")
	s.set(strings.Repeat("x", size), false, names...)
	first.catchUp(t)
	refer("Failed")
	second.catchUp(t)
	first.catchUp(t)
	if !maps.Equal(first.arcs, second.arcs) || !maps.Equal(first.vertices, second.vertices) || len(second.arcs) != 1 {
		t.Errorf("one has %d vertices and the arcs %v, the other %d and %v", len(first.vertices), first.arcs, len(second.vertices), second.arcs)
	}
}

// held waits when it is encoded.
type held struct {
	fakeObject
	entered, leave chan struct{}
}

func (o *held) AppendJSON(dst []byte) ([]byte, error) {
	o.entered <- struct{}{}
	<-o.leave
	return o.fakeObject.AppendJSON(dst)
}

// TestReconnectDelaysNoOtherSubscriber: current subscribers receive changes while the graph is encoded
// for a subscriber that comes back after a while.
func TestReconnectDelaysNoOtherSubscriber(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a", "b")
	current := s.reader(SubscribeOptions{})
	current.catchUp(t)
	before := current.rev
	slow := &held{fakeObject{uid: "uid-a", json: `{"metadata":{"name":"a"}}`}, make(chan struct{}), make(chan struct{})}
	s.put("a", slow)
	go func() { <-slow.entered; slow.leave <- struct{}{} }()
	current.catchUp(t)

	s.set("Failed", false, "b") // the subscriber that reconnects lacks both
	back, ended := s.reader(SubscribeOptions{Since: before}), make(chan error)
	go func() {
		_, err := back.Poll()
		ended <- err
	}()
	<-slow.entered
	sent := make(chan error)
	go func() {
		_, err := current.Poll()
		sent <- err
	}()
	select {
	case err := <-sent:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience.For(time.Minute)):
		t.Error("who is current waits")
		defer func() { <-sent }()
	}
	close(slow.leave)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestToldUntilTheyRun: a subscriber counts as told from the publication until it runs. One that writes does not.
func TestToldUntilTheyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.set("Running", false, "a")
		waits, writes := s.twoReaders(t)
		waits.poll(t)
		writes.poll(t)
		ended := waits.waits(t.Context())
		s.publisher.Arrived(s.lens.Head()+1, time.Now())
		if n := s.publisher.Told(); n != 1 {
			t.Errorf("%d are told, want 1", n)
		}
		s.set("Failed", false, "a")
		synctest.Wait()
		if n := s.publisher.Told(); n != 0 || !isOver(ended) {
			t.Errorf("%d have not run, want 0", n)
		}
	})
}
