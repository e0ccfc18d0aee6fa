package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/must"
	"graphview.dev/test/subscriber"
)

// arrival is the time at which a change came to one subscriber.
type arrival struct {
	n, listener int
	at          time.Time
}

// audience reads many streams of one view and records when changes come.
type audience struct {
	conns   []*websocket.Conn
	reading sync.WaitGroup
	mark    []byte // the text before a sequence in a message
	// first and last bound the recorded changes.
	first, last atomic.Int64

	messages, bytes atomic.Int64

	mu        sync.Mutex
	arrivals  []arrival
	listeners int
	reached   int // listeners that have received the last change
	err       error
}

// listen reads all streams until leave is called, and records the changes that come to each
// stream whose number is a multiple of every.
func listen(ctx context.Context, conns []*websocket.Conn, every int, mark string) *audience {
	a := &audience{conns: conns, mark: []byte(mark)}
	a.last.Store(-1)
	for i, conn := range conns {
		listens := i%every == 0
		if listens {
			a.listeners++
		}
		a.reading.Go(func() {
			err := a.read(ctx, conn, i, listens)
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.err == nil {
				a.err = err
			}
		})
	}
	return a
}

// read reads the stream of a number until it ends.
func (a *audience) read(ctx context.Context, conn *websocket.Conn, number int, listens bool) error {
	var buffer bytes.Buffer
	for {
		if err := receive(ctx, conn, &buffer); err != nil {
			return err
		}
		a.messages.Add(1)
		a.bytes.Add(int64(buffer.Len()))
		if listens {
			a.record(buffer.Bytes(), number, time.Now())
		}
	}
}

// record records the changes in a message.
func (a *audience) record(message []byte, listener int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, last := a.first.Load(), a.last.Load()
	for n := range subscriber.Numbers(message, a.mark) {
		if int64(n) < first || int64(n) > last {
			continue
		}
		a.arrivals = append(a.arrivals, arrival{n, listener, now})
		if int64(n) == last {
			a.reached++
		}
	}
}

// expect sets the changes to record from now on.
func (a *audience) expect(first, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arrivals, a.reached = nil, 0
	a.first.Store(int64(first))
	a.last.Store(int64(first + n - 1))
}

// late returns the delays of the recorded changes since they began.
func (a *audience) late(began func(n int) time.Time) []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := make([]time.Duration, len(a.arrivals))
	for i, arrived := range a.arrivals {
		late[i] = arrived.at.Sub(began(arrived.n))
	}
	return late
}

// uneven returns the median delay of the last listener divided by that of the first.
func (a *audience) uneven(began func(n int) time.Time) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := map[int][]time.Duration{}
	for _, arrived := range a.arrivals {
		late[arrived.listener] = append(late[arrived.listener], arrived.at.Sub(began(arrived.n)))
	}
	var medians []float64
	for _, each := range late {
		medians = append(medians, percentile(each, 50))
	}
	return slices.Max(medians) / slices.Min(medians)
}

// awaitAll waits until every listener has the last change, and returns the time that it waited.
func (a *audience) awaitAll(ctx context.Context) time.Duration {
	ended := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, lastChange, errNoLastChange)
	defer cancel()
	for {
		a.mu.Lock()
		done, err := a.reached >= a.listeners, a.err
		a.mu.Unlock()
		must.Do(err)
		if done {
			return time.Since(ended)
		}
		must.Do(wait(ctx, interval))
	}
}

// lastChange bounds the delay of the last change.
const lastChange = 2 * time.Minute

var errNoLastChange = errors.New("not every subscriber had the last change within two minutes")

// leave closes the streams and waits for their readers.
func (a *audience) leave() {
	closeAll(a.conns...)
	a.reading.Wait()
}
