package graphview

import (
	"sync"
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/configmaps"
)

// TestReleasesAtOnce: concurrent releases of a watch's leases, while another lease is
// acquired, neither stop the feed of the remaining lease nor leak anything.
func TestReleasesAtOnce(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 50)})
	for round := range 1500 {
		leaving := make([]*tap, 8)
		for i := range leaving {
			leaving[i] = acquireTap(t, e)
		}
		var (
			all     sync.WaitGroup
			staying *tap
		)
		begin := make(chan struct{})
		for _, leased := range leaving {
			all.Go(func() {
				<-begin
				e.intake.Release(leased.lease)
			})
		}
		all.Go(func() {
			<-begin
			staying = acquireTap(t, e)
		})
		close(begin)
		all.Wait()
		if all := e.intake.Feeds(); len(all) != 1 || all[0] != staying.lease.Feed {
			t.Fatalf("round %d: the feed of a watch that is leased was forgotten", round)
		}
		e.intake.Release(staying.lease)
		feeds := len(e.intake.Feeds())
		if size := e.Size(); feeds > 0 || size != (graph.Size{}) {
			t.Fatalf("round %d: with no leases there are %d feeds and %+v", round, feeds, size)
		}
	}
}
