package delivery

import (
	"fmt"
	"runtime"
	"testing"

	"graphview.dev/graphview/graph"
)

// BenchmarkNarrowed is what one change of a view of 20,000 pods costs one subscriber who
// is current: of the whole graph, and of a part of 30 pods, elsewhere and in the part.
// bytes/subscriber is what the subscriber holds while nothing happens.
func BenchmarkNarrowed(b *testing.B) {
	s := newStage(b)
	pods := map[string][]string{}
	for i := range 20_000 {
		pods[fmt.Sprintf("shop/p%d", i)] = []string{fmt.Sprintf("shop/p%d", i/30*30)}
	}
	s.link(pods)
	what, err := ParseNarrowing([]string{"pods/shop/p0"}, "Both", 2)
	if err != nil {
		b.Fatal(err)
	}
	for name, test := range map[string]struct {
		narrow  *graph.Narrowing
		changes string
	}{
		"whole": {nil, "shop/p15000"}, "part, elsewhere": {what, "shop/p15000"}, "part, in it": {what, "shop/p1"},
	} {
		b.Run(name, func(b *testing.B) {
			const subscribers = 100
			readers := make([]*Subscription, subscribers)
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := heap()
			catchUp := func(r *Subscription) {
				for {
					_, wait, err := r.poll()
					if err != nil {
						b.Fatal(err)
					}
					if !wait.moved {
						return
					}
				}
			}
			for i := range readers {
				readers[i] = s.publisher.Subscribe(SubscribeOptions{Narrow: test.narrow, Content: KeysOnly})
				catchUp(readers[i])
			}
			held := int64(heap()-before) / subscribers
			one := map[string][]string{test.changes: pods[test.changes]}
			b.ResetTimer()
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				s.link(one)
				b.StartTimer()
				catchUp(readers[0])
			}
			b.ReportMetric(float64(held), "bytes/subscriber")
			for _, r := range readers {
				r.Close()
			}
		})
	}
}
