package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// restartGrace is how long after a restart a view keeps its status while its graph is read
// again. It is longer than the default timeout for resources that cannot be listed, so that
// most restarts do not change a status.
const restartGrace = 45 * time.Second

// grace returns how much longer the status of a view that was ready before this process started
// is kept; 0 if it can be written. Otherwise a restart would look like a failure of all views
// to alerts and waiting users.
func (r *record) grace(view *v1alpha1.GraphView, held *graphview.Status, now time.Time) time.Duration {
	if r.written != nil || !r.verdict.accepted() || r.ready == view.Generation || held.LimitExceeded != "" {
		return 0
	}
	ready := meta.FindStatusCondition(view.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != "True" || ready.ObservedGeneration != view.Generation {
		return 0
	}
	// If the clock was set back, the wait is still at most one grace.
	return max(0, restartGrace-max(0, now.Sub(r.met)))
}
