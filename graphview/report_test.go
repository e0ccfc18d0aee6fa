package graphview

import (
	"sync"
	"testing"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// A watch becomes synced between any two looks at it: the report says what was
// the case at one moment.
func TestReportOfWatchThatChangesMeanwhile(t *testing.T) {
	e := startEngine(t, Options{Config: serveConfigMaps(t, 0)})
	v := newView(e, Name{Namespace: "shop", Name: "flow"}, "1")
	k := newKeeper(v)
	k.start()
	of := &feed{resource: configMapsResource}
	leased := newTap(v, need{resource: configMapsResource}, nil)
	leased.feed, leased.required = of, true
	leased.replayed.Store(true)
	k.taps[leased.need] = leased

	stop := make(chan struct{})
	var flips sync.WaitGroup
	flips.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				of.state.Store(&watch.State{Synced: i%2 == 0, Reason: watch.Pending})
			}
		}
	})
	catalog := resources.NewCatalog(nil, nil)
	o := outline{selected: []resources.Resource{configMapsResource}}
	for range 50_000 {
		k.report(catalog, o, 0)
	}
	close(stop)
	flips.Wait()
	if told := v.warnings.Summary(false); len(told) > 0 {
		t.Errorf("warnings of a watch that only waited: %v", told)
	}
}
