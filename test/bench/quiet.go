package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"
	"k8s.io/client-go/rest"
)

const (
	// quietSubscribers is the number of further subscribers in row 8, beside the first one.
	// One user may have 1,000 graphs.
	quietSubscribers = 999
	quietChanges     = 100
	quietRate        = 20
	// heartbeats is longer than the operator is silent.
	heartbeats = 25 * time.Second
)

// idleSubscribers measures row 8: what a subscriber costs that has all there is.
func idleSubscribers(ctx context.Context, b *bench) (lines []line, err error) {
	w, err := b.newWriter(ctx, "", quietChanges)
	if err != nil {
		return nil, err
	}
	defer w.close()
	for _, secure := range []bool{false, true} {
		q, err := b.quiet(ctx, w, secure)
		if err != nil {
			return nil, err
		}
		memory := line{
			row: 8, what: fmt.Sprintf("heap and stacks per idle subscriber, one of %d, without TLS", quietSubscribers), goal: "≤ 16 KiB",
			ours: single(q.bytes), floor: nothing, peer: nothing, format: kibibytes, reached: within(16 << 10),
		}
		if secure {
			memory.what, memory.goal, memory.reached = "… with TLS", "", nil
			lines = append(lines, memory)
			continue
		}
		lines = append(lines, memory,
			line{
				row: 8, what: fmt.Sprintf("watches, vertices and arcs that %d further subscribers of a view add", quietSubscribers), goal: "none",
				ours: single(q.graph), floor: nothing, peer: nothing, format: count, reached: within(0),
			},
			line{
				row: 8, what: "encodings of a change for all of them", goal: "one",
				ours: single(q.encodings), floor: nothing, peer: nothing, format: plain, reached: within(1),
			})
	}
	return lines, nil
}

// quiet is what further subscribers of a view add.
type quiet struct{ bytes, graph, encodings float64 }

func (b *bench) quiet(ctx context.Context, w *writer, secure bool) (q quiet, err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return q, err
	}
	defer s.end(ctx)
	if err := s.addViews(ctx, 1, sequences, false); err != nil {
		return q, err
	}
	d, err := b.dialerTo(ctx, s, secure)
	if err != nil {
		return q, err
	}
	defer d.close()
	one, err := d.dial(ctx, sequences, "")
	if err != nil {
		return q, err
	}
	rev, err := follow(ctx, one, func([]byte) error { return nil })
	if err != nil {
		return q, err
	}
	first := listen(ctx, []*websocket.Conn{one}, 1, `"j":["`)
	defer first.leave()
	// So that what is done once was done: rights are known, pools are filled.
	if _, err := w.write(ctx, quietChanges, quietRate*5, ignoreBegin); err != nil {
		return q, err
	}
	before, err := s.weight(ctx)
	if err != nil {
		return q, err
	}
	conns, err := d.dialMany(ctx, quietSubscribers, sequences, rev)
	if err != nil {
		return q, err
	}
	a := listen(ctx, conns, 1, `"j":["`)
	defer a.leave()
	// Each is told what it missed and that the graph is complete; then it is idle.
	if err := until(ctx, s.Process, func() (bool, error) { return a.messages.Load() >= quietSubscribers, nil }); err != nil {
		return q, err
	}
	// It is once it has been sent a heartbeat because nothing else was.
	if err := wait(ctx, heartbeats); err != nil {
		return q, err
	}
	after, err := s.weight(ctx)
	if err != nil {
		return q, err
	}
	q.bytes = (after.Bytes - before.Bytes) / quietSubscribers
	q.graph = float64(after.Watches - before.Watches + after.Vertices - before.Vertices + after.Arcs - before.Arcs)
	encoded, err := s.metric(ctx, encodingsMetric)
	if err != nil {
		return q, err
	}
	a.expect(b.changes+1, quietChanges)
	if _, err := w.write(ctx, quietChanges, quietRate, ignoreBegin); err != nil {
		return q, err
	}
	if err := a.awaitAll(ctx); err != nil {
		return q, err
	}
	again, err := s.metric(ctx, encodingsMetric)
	q.encodings = (again - encoded) / quietChanges
	return q, err
}

// benchAccount is whom subscribers without TLS are: they cannot have a
// certificate.
const benchAccount = "bench"

// dialerTo dials a server child, with a certificate, or without TLS and with a
// token.
func (b *bench) dialerTo(ctx context.Context, s *server, secure bool) (*dialer, error) {
	if secure {
		return newDialer(b.plane.Config(), "https://"+s.TLS, s.Exited)
	}
	_, err := b.plane.Kubectl(ctx, "get", "clusterrolebinding", benchAccount)
	if err != nil {
		if err := errors.Join(
			b.plane.CreateServiceAccount(ctx, viewNamespace, benchAccount),
			b.bind(ctx),
		); err != nil {
			return nil, err
		}
	}
	config, err := b.plane.ServiceAccountConfig(ctx, viewNamespace, benchAccount)
	if err != nil {
		return nil, err
	}
	config.TLSClientConfig = rest.TLSClientConfig{}
	return newDialer(config, "http://"+s.Plain, s.Exited)
}

func (b *bench) bind(ctx context.Context) error {
	_, err := b.plane.Kubectl(ctx, "create", "clusterrolebinding", benchAccount, "--clusterrole=cluster-admin", "--serviceaccount="+viewNamespace+":"+benchAccount)
	return err
}
