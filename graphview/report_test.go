package graphview

import (
	"errors"
	"sync"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// A watch becomes synced between any two looks at it: the report says what was
// the case at one moment.
func TestReportOfWatchThatChangesMeanwhile(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 0)})
	of := follow(t, e, yes)
	patience.Await(t, "the list", func() bool { return of.ready(of.state()) })

	stop := make(chan struct{})
	var flips sync.WaitGroup
	flips.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				of.lease.Feed.State(watch.State{Synced: i%2 == 0, Reason: watch.Pending})
			}
		}
	})
	catalog := resources.NewCatalog(nil, nil)
	o := plan.Outline{Selected: []resources.Resource{configMapsResource}}
	for range 5_000 {
		of.keeper.report(catalog, o, delivery.State{})
	}
	close(stop)
	flips.Wait()
	if told := of.view.warnings.Summary(false); len(told) > 0 {
		t.Errorf("warnings of a watch that only waited: %v", told)
	}
}

// TestReportAfterTimeout: after the time-out the view does without a resource, and
// says so and why.
func TestReportAfterTimeout(t *testing.T) {
	early := errors.New("the list of configmaps ended early after 3 objects (600 bytes, 1m0s) and goes on in pages")
	tests := map[string]struct {
		state watch.State
		want  string
	}{
		"its list ended early":     {watch.State{Reason: watch.Failing, Err: early}, "not synced within 30s, so objects may be missing: " + early.Error()},
		"nothing is known of it":   {watch.State{Reason: watch.Pending}, "not synced within 30s, so objects may be missing: it is still being listed"},
		"the view has yet to look": {watch.State{Reason: watch.UpToDate, Synced: true}, "not synced within 30s, so objects may be missing: its objects are still being evaluated"},
	}
	e := startEngine(t, Options{Config: configmaps.Serve(t, 0)})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			leased := newTap(plan.Need{Resource: configMapsResource}, nil)
			leased.lease.Feed, leased.acquired = feedIn(t, e, configMapsResource, test.state), time.Now().Add(-time.Minute)
			leased.Tap = intake.NewTap(nil, leased.lease.Feed, intake.ObjectRole{})
			a := newStatusBuilder(plan.Outline{Selected: []resources.Resource{configMapsResource}}, nil)
			a.tap(leased, 30*time.Second)
			if row := a.rows[0]; row.Synced || row.Message != test.want || !a.synced {
				t.Errorf("row = %+v, want the message %q; the view is synced: %t", row, test.want, a.synced)
			}
			if len(a.warnings) != 1 {
				t.Fatalf("warnings = %v, want one", a.warnings)
			}
			for _, w := range a.warnings {
				if want := configMapsResource.String() + ": " + test.want; w.Message != want {
					t.Errorf("warning = %q, want %q", w.Message, want)
				}
			}
		})
	}
}
