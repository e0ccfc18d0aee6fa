package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"graphview.dev/test/bench/figures"
	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

const (
	objects = 200 // of the small view
	writers = 24  // at once
	timed   = 10  // subscribers whose messages are searched for changes
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// crowd measures subscribers that are one user, and users measures as many users.
func (b *bench) crowd(ctx context.Context) {
	b.measureCrowd(ctx, "one user", func(int) string { return "alice" })
}

func (b *bench) users(ctx context.Context) {
	b.measureCrowd(ctx, fmt.Sprint(b.subscribers, " users"), func(i int) string { return fmt.Sprint("user-", i) })
}

func (b *bench) measureCrowd(ctx context.Context, who string, user func(i int) string) {
	maker := must.Get(load.NewMaker(b.memberPlane.Config()))
	object := load.Parse("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: small, name: \"{{.name}}\"}\ndata: {text: \"{{.text}}\"}")
	client := must.Get(dynamic.NewForConfig(b.memberPlane.Config())).Resource(configMaps).Namespace("small")
	if all := must.Get(client.List(ctx, metav1.ListOptions{Limit: 1})); len(all.Items) == 0 {
		must.Do(load.Each(ctx, objects, func(ctx context.Context, i int) error {
			return maker.Create(ctx, object, map[string]string{"name": fmt.Sprintf("object-%03d", i), "text": load.NewScope(i).Hex(300)}, load.NewScope(i))
		}))
	}
	b.table.Line("")
	b.table.Head(fmt.Sprintf("%d subscribers, %s, %d changes/s for %v; at", b.subscribers, who, b.rate, b.during), "processor: hub", "member", "both",
		"messages", "both, of 1,000 messages", "in the tunnel", "delivery p50", "p99", "streams that ended")
	direct, hub := b.ways()
	var costs [2]float64
	for i, w := range []way{direct, hub} {
		costs[i] = b.row(ctx, w, client, user)
	}
	b.table.Row("hub beside member", "", "", fmt.Sprintf("%.2f ×", costs[1]/costs[0]), "", "", "", "", "", "")
}

// row measures one way, and returns the processor time of hub and member together.
func (b *bench) row(ctx context.Context, w way, client dynamic.ResourceInterface, user func(int) string) float64 {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make([]*stream, b.subscribers)
	must.Do(load.Each(ctx, len(all), func(ctx context.Context, i int) error {
		return must.Try(func() { all[i] = w.eventually(context.WithoutCancel(ctx), w.client(user(i)), "small", b.encoding) })
	}))
	arrivals := make([]map[int]time.Time, timed)
	var reading sync.WaitGroup
	var mu sync.Mutex
	ended := 0
	stopping := false
	for i, s := range all {
		reading.Go(func() {
			look := func([]byte) {}
			if i < timed {
				arrivals[i] = make(map[int]time.Time)
				look = func(text []byte) {
					at := time.Now()
					for n := range load.Numbers(text, []byte(`"bench":"`)) {
						if _, came := arrivals[i][n]; !came {
							arrivals[i][n] = at
						}
					}
				}
			}
			for s.message(look) == nil {
			}
			mu.Lock()
			defer mu.Unlock()
			if !stopping {
				ended++
			}
		})
	}
	before := b.measured(ctx, all)
	changes := int(b.during.Seconds()) * b.rate
	written := make([]time.Time, changes)
	base := int(time.Now().UnixNano() / 1e6) // numbers of this row
	must.Do(load.Paced(ctx, changes, b.rate, writers, func(ctx context.Context, i int) error {
		written[i] = time.Now()
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench":"%d"}}}`, base+i)
		_, err := client.Patch(ctx, fmt.Sprintf("object-%03d", i%objects), types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}))
	time.Sleep(2 * time.Second) // messages that are late
	after := b.measured(ctx, all)
	mu.Lock()
	stopping = true
	mu.Unlock()
	for _, s := range all {
		s.close()
	}
	reading.Wait()
	var took []time.Duration
	for _, came := range arrivals {
		for n, at := range came {
			if i := n - base; i >= 0 && i < changes {
				took = append(took, at.Sub(written[i]))
			}
		}
	}
	cost := after.hub - before.hub + after.member - before.member
	messages := float64(after.messages - before.messages)
	b.table.Row(w.name, seconds(after.hub-before.hub), seconds(after.member-before.member), seconds(cost), int(messages),
		fmt.Sprintf("%.0f ms", cost/messages*1e6), megabytes(after.tunnel-before.tunnel),
		milliseconds(figures.Percentile(slices.Clone(took), 50)), milliseconds(figures.Percentile(took, 99)), ended)
	return cost
}

// measure has the sums since the start.
type measure struct {
	hub, member      float64 // seconds of processor
	tunnel, messages int64
}

func (b *bench) measured(ctx context.Context, all []*stream) (m measure) {
	const spent = "process_cpu_seconds_total"
	m.hub, m.member = must.Get(b.hub.Metric(ctx, spent)), must.Get(b.member.Metric(ctx, spent))
	there, back := b.tunnel.Passed()
	m.tunnel = there + back
	for _, s := range all {
		m.messages += s.messages.Load()
	}
	return m
}

func seconds(s float64) string      { return fmt.Sprintf("%.1f s", s) }
func milliseconds(s float64) string { return fmt.Sprintf("%.1f ms", s*1e3) }
func megabytes(n int64) string      { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
