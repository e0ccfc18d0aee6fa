package intake

import (
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/watch"
)

// TestUntimedProgressBecomesOverdue holds the clock of objects that do not say since when
// they are progressing: it begins when the engine first sees them so, goes on while they
// change, and begins again after they were well.
func TestUntimedProgressBecomesOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Feed{firstSeen: make(map[objectName]int64)}
		arrive := func(h health.Health) graph.Object {
			ev := &setEvent{feed: f, object: graph.Object{Namespace: "shop", Name: "worker", Payload: &watch.Object{}}}
			ev.classify(h)
			f.setDeadline(ev)
			return ev.object
		}
		behind := health.Health{State: health.Progressing, Untimed: true}
		start := time.Now().Unix()
		if o := arrive(behind); o.LapsesAt != start+600 || o.LapsesTo != ClassDegraded {
			t.Errorf("becomes %d at %d, want degraded at %d", o.LapsesTo, o.LapsesAt, start+600)
		}
		time.Sleep(5 * time.Minute)
		o := arrive(behind)
		if o.LapsesAt != start+600 {
			t.Errorf("a change puts the deadline off to %d, want %d", o.LapsesAt, start+600)
		}
		if judged, ok := o.Payload.(*delivery.Judged); !ok || judged.Health.Overdue != start+600 {
			t.Errorf("subscribers are sent %+v, want the deadline %d", o.Payload, start+600)
		}
		time.Sleep(6 * time.Minute)
		if o := arrive(behind); o.Class != ClassDegraded {
			t.Errorf("class %d of an object that is overdue, want degraded", o.Class)
		}
		if o := arrive(health.Health{State: health.OK}); o.LapsesAt != 0 || o.SideHash != 0 {
			t.Errorf("an object that is well keeps a deadline: %+v", o)
		}
		if o := arrive(behind); o.LapsesAt != time.Now().Unix()+600 {
			t.Errorf("becomes degraded at %d, want a new deadline", o.LapsesAt)
		}
	})
}
