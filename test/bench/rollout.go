package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/bench/figures"
	"graphview.dev/test/must"
)

// returned is how long it may take until all that come back have the whole graph.
const returned = 5 * time.Minute

// rollout measures row 15: all subscribers of a view reconnect at once to a restarted
// operator, and get the whole graph.
func rollout(ctx context.Context, b *bench) (lines []line) {
	// One user may have 1,000 graphs, and the neighbour has one of them. Whole objects are
	// so many bytes that all processors are the subscribers'.
	for _, c := range []*crowd{
		{what: "jsonPath", view: lens{name: "returned-to", path: sequences.path}, size: audienceSize - 1},
		{what: "whole objects", view: lens{name: "returned-to"}, size: audienceSize / 10},
	} {
		lines = append(lines, b.rollout(ctx, c)...)
	}
	return lines
}

func (b *bench) rollout(ctx context.Context, c *crowd) (lines []line) {
	n := b.neighbour(ctx)
	defer must.End(func() error { return n.end(ctx) })
	c.b, c.n = b, n
	n.with(ctx, []lens{c.view}, func() {
		n.ready(ctx, 2)
		// Once alone: this is what one of them takes.
		c.comeBack(ctx, 1)
		one := c.took[0].Seconds()
		alone := n.beside(ctx, nil)
		var before, after sample
		before.readMemory(n.m.PID())
		during := n.beside(ctx, func(going context.Context) string { return c.again(ctx, going) })
		after.readMemory(n.m.PID())
		each := float64(len(c.took))
		of := func(what string, ours, peer float64, format func(float64) string) line {
			return line{row: 15, what: what, ours: single(ours), peer: single(peer), peerName: "one alone", format: format}
		}
		resident := of("… most resident", float64(after.Peak), float64(before.Resident), megabytes)
		resident.peerName = "just before"
		lines = append([]line{
			of(fmt.Sprintf("%d subscribers come back at once, %s, TLS%s: the middle one has the whole graph after", c.size, c.what, during.took), figures.Percentile(c.took, 50), one, seconds),
			of("… the last one", figures.Percentile(c.took, 100), one, seconds),
			{row: 15, what: "… bytes sent to each", ours: single(float64(c.bytes) / each), format: megabytes},
			of("… encodings for each", c.encodings/each, c.encodingsAlone, plain),
			of("… processor time of bin/manager for each", c.processor/each, c.processorAlone, milliseconds),
			resident,
		}, besideLines(15, "… a small view's subscriber meanwhile, event to subscriber", []beside{during}, []beside{alone})...)
	})
	return lines
}

// crowd are the subscribers that come back.
type crowd struct {
	what string
	view lens
	size int
	b    *bench
	n    *neighbour

	took      []time.Duration // from the first dial until each has the whole graph
	bytes     int64
	processor float64
	encodings float64
	// The cost of a single subscriber.
	processorAlone, encodingsAlone float64
}

// again makes all reconnect again and again until going ends. The last round is completed.
func (c *crowd) again(ctx, going context.Context) (took string) {
	c.processorAlone, c.encodingsAlone = c.processor, c.encodings
	c.took, c.bytes, c.processor, c.encodings = nil, 0, 0, 0
	times := 0
	for going.Err() == nil {
		c.comeBack(ctx, c.size)
		times++
	}
	return fmt.Sprintf(" (%d times)", times)
}

// comeBack reconnects the subscribers in a separate process. In the same one, they would
// leave no processor time for the small view's subscriber.
func (c *crowd) comeBack(ctx context.Context, subscribers int) {
	var s sample
	encoded := metric(ctx, c.n.m.MetricsURL(), encodingsMetric)
	c.processor += spent(c.n.m.PID(), func() {
		s = c.b.child(ctx, task{Name: "crowd", URL: c.n.m.URL(), View: c.view.name, Subscribers: subscribers})
	})
	c.encodings += metric(ctx, c.n.m.MetricsURL(), encodingsMetric) - encoded
	c.bytes += s.Bytes
	c.took = append(c.took, s.Took...)
}

// runCrowd is that process. It opens streams at once, as a rollout has them opened, and reads
// each until it has the whole graph. All end when the last one has.
func runCrowd(ctx context.Context, c *child) {
	ctx, cancel := context.WithTimeoutCause(ctx, returned, errors.New("not every subscriber had the whole graph within five minutes"))
	defer cancel()
	d := newDialer(c.config, c.URL, func() error { return nil })
	defer d.close()
	errs := make([]error, c.Subscribers)
	conns := make([]*websocket.Conn, c.Subscribers)
	defer func() { closeAll(conns...) }()
	c.Took = make([]time.Duration, c.Subscribers)
	sizes := make([]int64, c.Subscribers)
	started := time.Now()
	var coming sync.WaitGroup
	for i := range c.Subscribers {
		coming.Go(func() {
			if conns[i], errs[i] = d.dial(ctx, c.view, ""); errs[i] == nil {
				sizes[i], errs[i] = readWhole(ctx, conns[i])
			}
			if c.Took[i] = time.Since(started); errs[i] != nil {
				cancel()
			}
		})
	}
	coming.Wait()
	for _, size := range sizes {
		c.Bytes += size
	}
	must.Do(errors.Join(errs...))
}

// readWhole reads a stream until the message that says synced. It looks for that alone: what
// readers take is taken from the processor that is measured.
func readWhole(ctx context.Context, conn *websocket.Conn) (size int64, err error) {
	var buffer bytes.Buffer
	for {
		if err := read(ctx, conn, &buffer); err != nil {
			return size, err
		}
		size += int64(buffer.Len())
		if bytes.Contains(buffer.Bytes(), []byte(`"synced":true`)) {
			return size, nil
		}
	}
}
