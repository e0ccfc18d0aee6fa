package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"
	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
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
func idleSubscribers(ctx context.Context, b *bench) (lines []line) {
	w := b.newWriter(ctx, "", quietChanges)
	defer w.close()
	for _, secure := range []bool{false, true} {
		q := b.quiet(ctx, w, secure)
		memory := line{
			row: 8, what: fmt.Sprintf("heap and stacks per idle subscriber, one of %d, without TLS", quietSubscribers), goal: "≤ 16 KiB",
			ours: single(q.bytes), format: kibibytes, reached: within(16 << 10),
		}
		if secure {
			memory.what, memory.goal, memory.reached = "… with TLS", "", nil
			lines = append(lines, memory)
			continue
		}
		lines = append(lines, memory,
			line{
				row: 8, what: fmt.Sprintf("watches, vertices and arcs that %d further subscribers of a view add", quietSubscribers), goal: "none",
				ours: single(q.graph), format: count, reached: within(0),
			},
			line{
				row: 8, what: "encodings of a change for all of them", goal: "one",
				ours: single(q.encodings), format: plain, reached: within(1),
			})
	}
	return lines
}

// quiet is what further subscribers of a view add.
type quiet struct{ bytes, graph, encodings float64 }

func (b *bench) quiet(ctx context.Context, w *writer, secure bool) (q quiet) {
	s := b.startServer(ctx)
	defer s.end(ctx)
	s.addViews(ctx, 1, sequences, false)
	d := b.dialerTo(ctx, s, secure)
	defer d.close()
	one := must.Get(d.dial(ctx, sequences, ""))
	rev := must.Get(follow(ctx, one, ignore))
	first := listen(ctx, []*websocket.Conn{one}, 1, `"j":["`)
	defer first.leave()
	// So that what is done once was done: rights are known, pools are filled.
	must.Get(w.write(ctx, quietChanges, quietRate*5, ignoreBegin))
	before := s.weight(ctx)
	conns := d.dialMany(ctx, quietSubscribers, sequences, rev)
	a := listen(ctx, conns, 1, `"j":["`)
	defer a.leave()
	// Each is told what it missed and that the graph is complete; then it is idle.
	until(ctx, s, func() bool { return a.messages.Load() >= quietSubscribers })
	// It is once it has been sent a heartbeat because nothing else was.
	must.Do(wait(ctx, heartbeats))
	after := s.weight(ctx)
	q.bytes = (after.Bytes - before.Bytes) / quietSubscribers
	q.graph = float64(after.Watches - before.Watches + after.Vertices - before.Vertices + after.Arcs - before.Arcs)
	encoded := s.encodings(ctx)
	a.expect(b.changes+1, quietChanges)
	must.Get(w.write(ctx, quietChanges, quietRate, ignoreBegin))
	a.awaitAll(ctx)
	q.encodings = (s.encodings(ctx) - encoded) / quietChanges
	return q
}

// benchAccount is whom subscribers without TLS are: they cannot have a
// certificate.
const benchAccount = "bench"

// dialerTo dials a server child, with a certificate, or without TLS and with a
// token.
func (b *bench) dialerTo(ctx context.Context, s *server, secure bool) *dialer {
	if secure {
		return newDialer(b.plane.Config(), "https://"+s.TLS, s.Exited)
	}
	_, err := b.plane.Kubectl(ctx, "get", "clusterrolebinding", benchAccount)
	if err != nil {
		must.Do(b.plane.CreateServiceAccount(ctx, viewNamespace, benchAccount))
		must.Get(b.plane.Kubectl(ctx, "create", "clusterrolebinding", benchAccount, "--clusterrole=cluster-admin", "--serviceaccount="+viewNamespace+":"+benchAccount))
	}
	config := must.Get(b.plane.ServiceAccountConfig(ctx, viewNamespace, benchAccount))
	config.TLSClientConfig = rest.TLSClientConfig{}
	return newDialer(config, "http://"+s.Plain, s.Exited)
}
