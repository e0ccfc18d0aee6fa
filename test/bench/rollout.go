package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// returned is how long it may take until all that come back have the whole graph.
const returned = 5 * time.Minute

// rollout measures row 15: all subscribers of a view reconnect at once to a restarted
// operator, and get the whole graph.
func rollout(ctx context.Context, b *bench) (lines []line, err error) {
	// One user may have 1,000 graphs, and the neighbour has one of them. Whole objects are
	// so many bytes that all processors are the subscribers'.
	for _, c := range []*crowd{
		{what: "jsonPath", view: lens{name: "returned-to", path: sequences.path}, size: audienceSize - 1},
		{what: "whole objects", view: lens{name: "returned-to"}, size: audienceSize / 10},
	} {
		found, err := b.rollout(ctx, c)
		if err != nil {
			return lines, err
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

func (b *bench) rollout(ctx context.Context, c *crowd) (lines []line, err error) {
	n, err := b.neighbour(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.end(ctx)) }()
	c.b, c.n = b, n
	err = n.with(ctx, []lens{c.view}, func() error {
		if err := n.ready(ctx, 2); err != nil {
			return err
		}
		// Once alone: this is what one of them takes.
		if err := c.comeBack(ctx, 1); err != nil {
			return err
		}
		one := c.took[0]
		alone, err := n.beside(ctx, nil)
		if err != nil {
			return err
		}
		var before, after sample
		if err := before.readMemory(pid(n.m)); err != nil {
			return err
		}
		during, err := n.beside(ctx, func(going context.Context) (string, error) { return c.again(ctx, going) })
		if err != nil {
			return err
		}
		if err := after.readMemory(pid(n.m)); err != nil {
			return err
		}
		slices.Sort(c.took)
		of := func(what string, ours, peer float64, peerName string, format func(float64) string) line {
			return line{row: 15, what: what, ours: single(ours), floor: nothing, peer: single(peer), peerName: peerName, format: format}
		}
		lines = append([]line{
			of(fmt.Sprintf("%d subscribers come back at once, %s, TLS%s: the middle one has the whole graph after", c.size, c.what, during.took), percentile(c.took, 50), one.Seconds(), "one alone", seconds),
			of("… the last one", percentile(c.took, 100), one.Seconds(), "one alone", seconds),
			of("… bytes sent to each", float64(c.bytes)/float64(len(c.took)), nothing.median, "", megabytes),
			of("… encodings for each", c.encodings/float64(len(c.took)), c.encodingsAlone, "one alone", plain),
			of("… processor time of bin/manager for each", c.processor/float64(len(c.took)), c.processorAlone, "one alone", milliseconds),
			of("… most resident", float64(after.Peak), float64(before.Resident), "just before", megabytes),
		}, during.lines(15, "… a small view's subscriber meanwhile, event to subscriber", &alone)...)
		return nil
	})
	return lines, err
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
func (c *crowd) again(ctx, going context.Context) (took string, err error) {
	c.processorAlone, c.encodingsAlone = c.processor, c.encodings
	c.took, c.bytes, c.processor, c.encodings = nil, 0, 0, 0
	times := 0
	for going.Err() == nil {
		if err := c.comeBack(ctx, c.size); err != nil {
			return "", err
		}
		times++
	}
	return fmt.Sprintf(" (%d times)", times), nil
}

// comeBack reconnects the subscribers in a separate process. In the same one, they would
// leave no processor time for the small view's subscriber.
func (c *crowd) comeBack(ctx context.Context, subscribers int) error {
	used, err := processorTime(pid(c.n.m))
	if err != nil {
		return err
	}
	encoded, err := metric(ctx, c.n.m.MetricsURL(), encodingsMetric)
	if err != nil {
		return err
	}
	s, err := c.b.child(ctx, "crowd", 0, "-url="+c.n.m.URL(), "-view="+c.view.name, "-subscribers="+strconv.Itoa(subscribers))
	if err != nil {
		return err
	}
	usedAfter, err := processorTime(pid(c.n.m))
	if err != nil {
		return err
	}
	encodedAfter, err := metric(ctx, c.n.m.MetricsURL(), encodingsMetric)
	c.processor += usedAfter - used
	c.encodings += encodedAfter - encoded
	c.bytes += s.Bytes
	c.took = append(c.took, s.Took...)
	return err
}

// runCrowd is that process. It opens streams at once, as a rollout has them opened, and reads
// each until it has the whole graph. All end when the last one has.
func runCrowd(ctx context.Context, c *child) error {
	ctx, cancel := context.WithTimeoutCause(ctx, returned, errors.New("not every subscriber had the whole graph within five minutes"))
	defer cancel()
	d, err := newDialer(c.config, c.url, func() error { return nil })
	if err != nil {
		return err
	}
	defer d.close()
	errs := make([]error, c.subscribers)
	conns := make([]*websocket.Conn, c.subscribers)
	defer func() { closeAll(conns) }()
	c.Took = make([]time.Duration, c.subscribers)
	sizes := make([]int64, c.subscribers)
	started := time.Now()
	var coming sync.WaitGroup
	for i := range c.subscribers {
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
	return errors.Join(errs...)
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
