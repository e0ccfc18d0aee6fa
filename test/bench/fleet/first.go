package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
	"graphview.dev/test/network"
)

// parts of the large graph, and the characters of each.
const (
	parts    = 700
	partSize = 50_000
)

// latencies are those of each direction.
var latencies = []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond}

// first measures how long a large first graph takes at both ways, with a latency between hub and
// member or between subscriber and member.
func (b *bench) first(ctx context.Context) {
	maker := must.Get(load.NewMaker(b.memberPlane.Config()))
	object := load.Parse("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: large, name: \"{{.name}}\"}\ndata: {text: \"{{.text}}\"}")
	must.Do(load.Each(ctx, parts, func(ctx context.Context, i int) error {
		return maker.Create(ctx, object, map[string]string{"name": fmt.Sprintf("part-%03d", i), "text": load.NewScope(i).Hex(partSize)}, load.NewScope(i))
	}))
	b.table.Line("")
	b.table.Head("a first graph, latency each way", "size", "member", "hub", "hub beside member", "in the tunnel", "processor: hub", "member")
	direct, hub := b.ways()
	for _, latency := range latencies {
		for _, path := range []*network.Path{b.tunnel, b.direct} {
			path.Turn(network.Weather{Latency: latency})
			path.Cut() // a tunnel measures the round trip when it begins
		}
		near, size, _ := b.read(ctx, direct)
		far, _, spent := b.read(ctx, hub)
		b.table.Row(latency, megabytes(size), seconds(near.Seconds()), seconds(far.Seconds()), fmt.Sprintf("%.2f ×", far.Seconds()/near.Seconds()),
			megabytes(spent.tunnel), seconds(spent.hub), seconds(spent.member))
	}
	b.tunnel.Turn(network.Weather{})
	b.direct.Turn(network.Weather{})
}

// read returns the median time and the size of several graphs, and the costs of one.
func (b *bench) read(ctx context.Context, w way) (took time.Duration, size int64, spent measure) {
	client := w.client("alice")
	w.complete(ctx, client)
	before := b.measured(ctx, nil)
	var times []time.Duration
	for range b.rounds {
		began := time.Now()
		s := must.Get(w.open(ctx, client, "large", b.encoding))
		times = append(times, time.Since(began))
		size = s.bytes.Load()
		s.close()
	}
	after := b.measured(ctx, nil)
	slices.Sort(times)
	n := float64(b.rounds)
	return times[len(times)/2], size, measure{
		hub: (after.hub - before.hub) / n, member: (after.member - before.member) / n, tunnel: (after.tunnel - before.tunnel) / int64(b.rounds),
	}
}

// complete waits until the view has all objects.
func (w way) complete(ctx context.Context, client *http.Client) {
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		s := w.eventually(ctx, client, "large", "identity")
		size := s.bytes.Load()
		s.close()
		if size > parts*partSize {
			return
		}
		if time.Since(began) > patience {
			must.Do(fmt.Errorf("the graph has %d bytes", size))
		}
	}
}
