package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"graphview.dev/test/must"
	"graphview.dev/test/subscriber"
)

// arrival is the time at which a change came to one listener.
type arrival struct {
	n, listener int
	at          time.Time
}

// audience reads many streams of one view and records when changes come to some of them, the listeners. It only counts the
// bytes of the others' messages: to look for changes in all messages would use the processor of the measured
// operator.
type audience struct {
	every   int    // the number of streams for one listener
	mark    []byte // the text before a sequence in a message
	reading sync.WaitGroup
	// first and last bound the recorded changes.
	first, last atomic.Int64

	messages, bytes atomic.Int64

	mu         sync.Mutex
	conns      []*websocket.Conn
	arrivals   []arrival
	boundaries []boundary
	listeners  int
	reached    int // listeners that have received the last change
	err        error
}

// listen returns an audience that reads streams until leave is called, each as soon as it has joined. One stream of every is
// a listener.
func listen(every int, mark string) *audience {
	a := &audience{every: every, mark: []byte(mark)}
	a.last.Store(-1)
	return a
}

// join adds a stream.
func (a *audience) join(ctx context.Context, conn *websocket.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	number := len(a.conns)
	a.conns = append(a.conns, conn)
	read := a.count
	if number%a.every == 0 {
		a.listeners++
		read = func(ctx context.Context, conn *websocket.Conn) error { return a.listen(ctx, conn, number) }
	}
	a.reading.Go(func() {
		err := read(ctx, conn)
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.err == nil {
			a.err = err
		}
	})
}

// dial adds n streams of a view after a revision, some at a time, in turns of users. Streams that have joined are
// read while others are dialed, since the operator ends a stream that does not answer its pings.
func (a *audience) dial(ctx context.Context, users []*dialer, view lens, n int, since string) {
	defer func() {
		for _, user := range users {
			user.close()
		}
	}()
	group, dialing := errgroup.WithContext(ctx)
	group.SetLimit(dialedAtOnce)
	for i := range n {
		group.Go(func() error {
			conn, err := users[i%len(users)].dial(dialing, view, since)
			if err == nil {
				a.join(ctx, conn)
			}
			return err
		})
	}
	must.Do(group.Wait())
}

// dialedAtOnce bounds the handshakes at the same time, so that the time of one does not depend on the number of streams.
const dialedAtOnce = 16

// count reads a stream until it ends, without a look at its messages.
func (a *audience) count(ctx context.Context, conn *websocket.Conn) error {
	for {
		_, message, err := conn.Reader(ctx)
		if err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		n, err := io.Copy(io.Discard, message)
		if err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		a.messages.Add(1)
		a.bytes.Add(n)
	}
}

// listen reads the stream of a listener until it ends.
func (a *audience) listen(ctx context.Context, conn *websocket.Conn, listener int) error {
	var buffer bytes.Buffer
	newest := 0
	for {
		if err := receive(ctx, conn, &buffer); err != nil {
			return err
		}
		a.messages.Add(1)
		a.bytes.Add(int64(buffer.Len()))
		newest = a.record(buffer.Bytes(), listener, newest, time.Now())
	}
}

// record records the changes in a message to a listener, and that it is at a boundary if the message has a revision. Newest is the newest change
// that the listener has before the message; record returns the newest after it.
func (a *audience) record(message []byte, listener, newest int, now time.Time) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, last := int(a.first.Load()), int(a.last.Load())
	for n := range subscriber.Numbers(message, a.mark) {
		newest = max(newest, n)
		if n < first || n > last {
			continue
		}
		a.arrivals = append(a.arrivals, arrival{n, listener, now})
		if n == last {
			a.reached++
		}
	}
	if newest >= first && newest <= last && bytes.Contains(message, []byte(`"rev":"`)) {
		a.boundaries = append(a.boundaries, boundary{newest, listener, now})
	}
	return newest
}

// expect sets the changes to record from now on.
func (a *audience) expect(first, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arrivals, a.boundaries, a.reached = nil, nil, 0
	a.first.Store(int64(first))
	a.last.Store(int64(first + n - 1))
}

// late returns the delays of the recorded changes since they began.
func (a *audience) late(began func(n int) time.Time) []time.Duration {
	return a.lateWhere(began, func(time.Time, time.Time) bool { return true })
}

// lateWhere returns the delays of the recorded changes for which keep reports true.
func (a *audience) lateWhere(began func(n int) time.Time, keep func(began, arrived time.Time) bool) (late []time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, arrived := range a.arrivals {
		if since := began(arrived.n); keep(since, arrived.at) {
			late = append(late, arrived.at.Sub(since))
		}
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
	a.mu.Lock()
	closeAll(a.conns...)
	a.mu.Unlock()
	a.reading.Wait()
}
