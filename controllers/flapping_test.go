package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

// TestFlappingHealth: while the health of objects changes a hundred times a second, the
// status is written once per interval. Conditions that an author waits for are not delayed.
func TestFlappingHealth(t *testing.T) {
	const interval = 5 * time.Second
	status := func(healthy metav1.ConditionStatus, degraded int64, ready metav1.ConditionStatus) *v1alpha1.GraphViewStatus {
		return &v1alpha1.GraphViewStatus{
			Health: &v1alpha1.HealthCounts{Degraded: degraded},
			Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionReady, Status: ready, Reason: "Some"},
				{Type: v1alpha1.ConditionHealthy, Status: healthy, Reason: "Some"},
			},
		}
	}
	written, writes := status(metav1.ConditionTrue, 0, metav1.ConditionTrue), 0
	var last time.Duration
	for now := time.Duration(0); now < time.Minute; now += 10 * time.Millisecond {
		should := status(metav1.ConditionTrue, 0, metav1.ConditionTrue)
		if now/(10*time.Millisecond)%2 == 0 {
			should = status(metav1.ConditionFalse, int64(now), metav1.ConditionTrue)
		}
		if decide(written, should, now-last, interval).now {
			written, last = should, now
			writes++
		}
	}
	if most := int(time.Minute / interval); writes == 0 || writes > most {
		t.Errorf("%d writes in a minute, want at most %d", writes, most)
	}
	if !decide(written, status(metav1.ConditionTrue, 0, metav1.ConditionFalse), 0, interval).now {
		t.Error("a view that is not ready any more is told of later")
	}
}
