package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// writeStatus is the only function that writes to a GraphView. It sends one patch with the differences,
// if there are any. The resource version in the patch makes a write that starts from
// an outdated status fail.
func (r *GraphViewReconciler) writeStatus(ctx context.Context, view *v1alpha1.GraphView, record *record, st *graphview.Status) (ctrl.Result, error) {
	now := r.options.Clock.Now()
	if left := record.grace(view, st, now); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	before := record.newest(view)
	after := before.DeepCopy()
	after.Status.ObservedGeneration = view.Generation
	setCounts(&after.Status, st)
	setConditions(&after.Status.Conditions, view.Generation, record.verdict, st, record.ready == view.Generation)

	since := time.Duration(1<<63 - 1)
	if record.written != nil {
		since = now.Sub(record.wroteAt)
	}
	switch todo := decide(&before.Status, &after.Status, since, r.options.StatusInterval); {
	case todo.hold > 0:
		return ctrl.Result{RequeueAfter: todo.hold}, nil
	case !todo.now:
		return ctrl.Result{}, nil
	}

	if left := record.refused.left(view.Generation, now); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	patch := client.MergeFromWithOptions(unseen(before), client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, after, patch); err != nil {
		if isRefused(err) {
			record.refused = refusal{view.Generation, now}
		}
		return unpatched(err)
	}
	record.written, record.wroteAt, record.refused = statusOf(after), now, refusal{}
	recordChanges(r.recorder, view, before.Status.Conditions, after.Status.Conditions)
	return ctrl.Result{}, nil
}

// statusOf returns a copy of a GraphView for a patch of the status, without its spec.
func statusOf(view *v1alpha1.GraphView) *v1alpha1.GraphView {
	return &v1alpha1.GraphView{ObjectMeta: reducedMeta(&view.ObjectMeta), Status: view.Status}
}

// unseen returns the GraphView that a patch starts from. If the operator has not written the status yet, it
// is returned empty, without the defaults of the API, so that the patch also has counts of 0.
func unseen(view *v1alpha1.GraphView) *v1alpha1.GraphView {
	if view.Status.ObservedGeneration >= 0 {
		return view
	}
	view = view.DeepCopy()
	view.Status = v1alpha1.GraphViewStatus{}
	return view
}

// restartGrace is the time after a restart during which a view keeps its status while its graph is read
// again. It is longer than the default timeout for resources that cannot be listed, so that
// most restarts do not change a status.
const restartGrace = 45 * time.Second

// grace returns the remaining time during which the status of a view that was ready before this process started
// is kept; 0 if it can be written. Otherwise a restart would look like a failure of all views
// to alerts and waiting users.
func (r *record) grace(view *v1alpha1.GraphView, st *graphview.Status, now time.Time) time.Duration {
	if r.written != nil || !r.verdict.accepted() || r.ready == view.Generation || st.LimitExceeded != "" {
		return 0
	}
	ready := meta.FindStatusCondition(view.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != "True" || ready.ObservedGeneration != view.Generation {
		return 0
	}
	return max(0, restartGrace-now.Sub(r.met))
}
