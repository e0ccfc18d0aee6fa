package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

// write is the decision about a status: to write it now, to write it after a while
// (hold > 0), or not to write it.
type write struct {
	now  bool
	hold time.Duration
}

// decide compares the current status with the desired one. Conditions are written at once;
// counts and messages, which may change all the time, once in interval since the last write.
// since is the time since that write; without one it is larger than any interval.
func decide(is, should *v1alpha1.GraphViewStatus, since, interval time.Duration) write {
	switch {
	case equality.Semantic.DeepEqual(is, should):
		return write{}
	case is.ObservedGeneration != should.ObservedGeneration,
		!sameOutcome(is.Conditions, should.Conditions),
		since >= interval:
		return write{now: true}
	default:
		return write{hold: interval - since}
	}
}

// sameOutcome reports whether two lists of conditions differ only in messages, order, generations, and
// Healthy and Effective, which change as often as the counts.
func sameOutcome(a, b []metav1.Condition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		switch a[i].Type {
		case v1alpha1.ConditionHealthy, v1alpha1.ConditionEffective:
		default:
			if outcomeChanged(&a[i], b) {
				return false
			}
		}
	}
	return true
}
