package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

const (
	// stoppedCount readers stand still, so that what each holds is more than
	// what is measured by chance.
	stoppedCount = 20
	// stoppedRate is the load meanwhile, and stoppedPods whom it concerns.
	stoppedRate = 100
	stoppedPods = 500
	// warmRounds make what the load will only replace.
	warmRounds = 2
)

// oneNamespace is a view that the oracle can build quickly, of any load.
func (b *bench) oneNamespace() lens {
	return lens{name: "one-namespace", namespace: b.shape.namespace(0)}
}

// stoppedReaders measures row 10: what is held for readers that stand still, and
// what they are sent afterwards.
func stoppedReaders(ctx context.Context, b *bench) (lines []line) {
	view := b.oneNamespace()
	w := b.newWriter(ctx, view.namespace, stoppedPods)
	defer w.close()
	s := b.startServer(ctx)
	defer s.end(ctx)
	s.addViews(ctx, 1, view, false)
	d := newDialer(b.plane.Config(), "https://"+s.TLS, s.Exited)
	defer d.close()
	one := must.Get(d.dial(ctx, view, ""))
	current := listen(ctx, []*websocket.Conn{one}, 1, sequenceMark)
	defer current.leave()
	must.Get(w.write(ctx, warmRounds*len(w.keys), 2*stoppedRate, ignoreBegin))
	before := s.weight(ctx)
	narrowed := newDialer(b.narrow(), "https://"+s.TLS, s.Exited)
	defer narrowed.close()
	readers := make([]*oracle.Client, stoppedCount)
	conns := make([]*websocket.Conn, stoppedCount)
	defer func() { closeAll(conns...) }()
	// At once: a reader that stands still where there is nothing to read does not
	// answer pings, and is cut for that.
	group, reading := errgroup.WithContext(ctx)
	for i := range conns {
		group.Go(func() (err error) {
			if conns[i], err = narrowed.dial(reading, view, ""); err != nil {
				return err
			}
			readers[i] = &oracle.Client{}
			_, err = follow(reading, conns[i], readers[i].Apply)
			return err
		})
	}
	must.Do(group.Wait())
	// From here on, the stopped readers do not read.
	n := int(b.stopped.Seconds() * stoppedRate)
	current.expect(b.changes+1, n)
	first := must.Get(w.write(ctx, n, stoppedRate, ignoreBegin))
	current.awaitAll(ctx)
	after := s.weight(ctx)
	want := wanted(ctx, b.plane.Config(), view)
	c := caught{last: first + n - 1, key: w.key}
	for i := range conns {
		c.up(ctx, conns[i], readers[i])
		compare(want, readers[i])
		readers[i] = nil // decoded, a graph is large
	}
	what := fmt.Sprintf("%d readers stopped for %s under %d writes/s: ", stoppedCount, b.stopped, stoppedRate)
	ours := func(what, goal string, v float64, format func(float64) string, limit float64) line {
		return line{row: 10, what: what, goal: goal, ours: single(v), format: format, reached: within(limit)}
	}
	return []line{
		ours(what+"heap and stacks held for each, TLS", "≤ 64 KiB", (after.Bytes-before.Bytes)/stoppedCount, kibibytes, 64<<10),
		ours(fmt.Sprintf("… then actions per changed element, at most (%d resets); the graphs are the oracle's", c.resets), "≤ 1, or a reset", c.most, plain, 1),
	}
}

// narrow is the configuration of connections whose receive buffer is soon full.
// Else the kernels hold for minutes what a reader does not read.
func (b *bench) narrow() *rest.Config {
	config := b.plane.Config()
	dialer := &net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
		return errors.Join(err, failed)
	}}
	config.Dial = dialer.DialContext
	return config
}

// caught notes what readers are sent that stood still.
type caught struct {
	last   int              // the change that ends it
	key    func(int) string // whom a change concerned
	most   float64          // actions per changed element
	resets int
}

// actions are the beginnings of all that there are.
var actions = [][]byte{[]byte(`{"svx":`), []byte(`{"dvx":`), []byte(`{"sarc":`), []byte(`{"darc":`)}

var errNotBehind = errors.New("the reader never fell behind: the load was too small, or too short")

// up reads the changes that a reader missed. First come the changes in kernel buffers, one
// by one; then there is a gap, and the messages after it are counted.
func (c *caught) up(ctx context.Context, conn *websocket.Conn, reader *oracle.Client) {
	ctx, cancel := context.WithTimeoutCause(ctx, drained, errNotTold)
	defer cancel()
	var buffer bytes.Buffer
	seen, gap, sent := 0, false, 0
	changed := map[string]bool{}
	// Changes that are made at the same time come in any order.
	latest := map[int]bool{}
	for n := range writers {
		latest[c.last-n] = true
	}
	for len(latest) > 0 {
		must.Do(read(ctx, conn, &buffer))
		must.Do(reader.Apply(buffer.Bytes()))
		numbers := slices.Sorted(load.Numbers(buffer.Bytes(), []byte(sequenceMark)))
		if must.Get(subscriber.Head(buffer.Bytes())).Reset {
			c.resets++
			gap, sent = true, 0
			clear(changed)
		} else if len(numbers) > 0 && seen > 0 && numbers[0] > seen+writers {
			gap = true
		}
		for _, n := range numbers {
			seen = max(seen, n)
			delete(latest, n)
		}
		if !gap {
			continue
		}
		for _, action := range actions {
			sent += bytes.Count(buffer.Bytes(), action)
		}
		for _, n := range numbers {
			changed[c.key(n)] = true
		}
	}
	if !gap {
		must.Do(errNotBehind)
	}
	if c.resets == 0 {
		c.most = max(c.most, float64(sent)/float64(len(changed)))
	}
}
