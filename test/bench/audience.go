package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

// arrival is when a change came to one subscriber.
type arrival struct {
	n  int
	at time.Time
}

// audience reads many streams of one view and notes when changes come.
type audience struct {
	conns   []*websocket.Conn
	reading sync.WaitGroup
	mark    []byte // what stands before a sequence in a message
	// first and last are the changes to note; those between them too.
	first, last atomic.Int64

	messages, bytes atomic.Int64

	mu        sync.Mutex
	arrivals  []arrival
	listeners int
	reached   int // listeners that were told of the last change
	err       error
}

// listen reads all streams until leave is called, and notes of those numbered
// with a multiple of every when changes come. The others only read.
func listen(ctx context.Context, conns []*websocket.Conn, every int, mark string) *audience {
	a := &audience{conns: conns, mark: []byte(mark)}
	a.last.Store(-1)
	for i, conn := range conns {
		listens := i%every == 0
		if listens {
			a.listeners++
		}
		a.reading.Go(func() { a.read(ctx, conn, listens) })
	}
	return a
}

func (a *audience) read(ctx context.Context, conn *websocket.Conn, listens bool) {
	var buffer bytes.Buffer
	var arrived []arrival
	for {
		if err := read(ctx, conn, &buffer); err != nil {
			a.mu.Lock()
			if a.err == nil {
				a.err = err
			}
			a.mu.Unlock()
			return
		}
		now := time.Now()
		a.messages.Add(1)
		a.bytes.Add(int64(buffer.Len()))
		if !listens {
			continue
		}
		arrived = arrived[:0]
		ended := false
		first, last := a.first.Load(), a.last.Load()
		for n := range load.Numbers(buffer.Bytes(), a.mark) {
			if int64(n) >= first && int64(n) <= last {
				arrived = append(arrived, arrival{n, now})
				ended = ended || int64(n) == last
			}
		}
		a.mu.Lock()
		a.arrivals = append(a.arrivals, arrived...)
		if ended {
			a.reached++
		}
		a.mu.Unlock()
	}
}

// expect sets the changes to record from now on.
func (a *audience) expect(first, n int) {
	a.mu.Lock()
	a.arrivals, a.reached = nil, 0
	a.mu.Unlock()
	a.first.Store(int64(first))
	a.last.Store(int64(first + n - 1))
}

// late is how late changes came after they began.
func (a *audience) late(began func(n int) time.Time) []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := make([]time.Duration, len(a.arrivals))
	for i, arrived := range a.arrivals {
		late[i] = arrived.at.Sub(began(arrived.n))
	}
	return late
}

// awaitAll waits until every listener has the last change.
func (a *audience) awaitAll(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, drained, errNotTold)
	defer cancel()
	for {
		a.mu.Lock()
		done, err := a.reached >= a.listeners, a.err
		a.mu.Unlock()
		must.Do(err)
		if done {
			return
		}
		must.Do(wait(ctx, patience))
	}
}

// drained is how long the last changes may take.
const drained = time.Minute

var errNotTold = errors.New("not every subscriber was told of the last change within a minute")

// leave closes the streams and joins who read them.
func (a *audience) leave() {
	closeAll(a.conns...)
	a.reading.Wait()
}
