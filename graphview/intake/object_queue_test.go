package intake

import (
	"fmt"
	"math"
	"testing"
)

// TestObjectQueue: feeds take turns, and an object whose taps have to evaluate it stays so when it becomes
// stale again for another reason. A turn ends with an object that is alone.
func TestObjectQueue(t *testing.T) {
	var q objectQueue[int]
	name := func(i int) objectName { return objectName{"shop", fmt.Sprint("c", i)} }
	for i := range 3 {
		if !q.add(1, name(i), queuedObject{withTaps: i == 0}) || q.add(1, name(i), queuedObject{withTaps: i == 1}) {
			t.Errorf("object %d is not new once", i)
		}
		q.add(2, name(i), queuedObject{})
	}
	q.drop(2)
	q.add(2, name(0), queuedObject{})
	for i := range 3 {
		q.add(3, name(i), queuedObject{alone: i == 1})
		q.add(3, name(i), queuedObject{})
	}
	for _, want := range []struct{ of, objects, withTaps, limit int }{{1, 2, 2, 2}, {2, 1, 0, 2}, {3, 2, 0, 3}, {1, 1, 0, math.MaxInt}, {3, 1, 0, 3}, {}} {
		of, objects := q.next(want.limit)
		withTaps := 0
		for _, o := range objects {
			if o.withTaps {
				withTaps++
			}
		}
		if of != want.of || len(objects) != want.objects || withTaps != want.withTaps {
			t.Errorf("%d objects of %d, %d of them with taps; want %v", len(objects), of, withTaps, want)
		}
	}
}
