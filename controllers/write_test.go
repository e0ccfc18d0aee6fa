package controllers

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// statusWriter answers patches of a status, and counts them.
type statusWriter struct {
	client.SubResourceWriter

	err  error
	sent int
}

// statusClient is a client for nothing but status.
type statusClient struct {
	client.Client

	status client.SubResourceWriter
}

func (c statusClient) Status() client.SubResourceWriter { return c.status }

func (w *statusWriter) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	w.sent++
	return w.err
}

// TestRefusedStatus: a status that was refused is not sent again with each change in the
// graph.
func TestRefusedStatus(t *testing.T) {
	views := schema.GroupResource{Group: "graphview.dev", Resource: "graphviews"}
	forbidden := apierrors.NewForbidden(views, "web", errors.New("no"))
	tests := map[string]struct {
		err      error
		edit     bool // the spec, each time
		wantSent int  // of 600 reconciles in two minutes
	}{
		"forbidden":    {err: forbidden, wantSent: 2}, // after 0 and 60 s
		"invalid":      {err: apierrors.NewInvalid(schema.GroupKind{Kind: "GraphView"}, "web", nil), wantSent: 2},
		"conflict":     {err: apierrors.NewConflict(views, "web", errors.New("modified")), wantSent: 600},
		"an outage":    {err: errors.New("connection refused"), wantSent: 600},
		"another spec": {err: forbidden, edit: true, wantSent: 600},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(epoch)
			writer := &statusWriter{err: tt.err}
			r := &GraphViewReconciler{client: statusClient{status: writer}, options: Options{Clock: clock, StatusInterval: 5 * time.Second}}
			view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Generation: 1, ResourceVersion: "1"}}
			record := &record{verdict: accepted, ready: 1}
			for i := range 600 {
				clock.SetTime(epoch.Add(time.Duration(i) * 200 * time.Millisecond))
				if tt.edit {
					view.Generation++
				}
				sent := writer.sent
				result, err := r.writeStatus(t.Context(), view, record, &graphview.Status{Served: true, Synced: true})
				if tt.err != nil && writer.sent == sent && (err != nil || result.RequeueAfter <= 0) {
					t.Fatalf("while it waits: result %+v, error %v", result, err)
				}
			}
			if writer.sent != tt.wantSent {
				t.Errorf("sent %d times, want %d", writer.sent, tt.wantSent)
			}
		})
	}
}

func TestRequeue(t *testing.T) {
	conflict := ctrl.Result{Requeue: true} //nolint:staticcheck // see unpatched
	failed := errors.New("unreachable")
	tests := map[string]struct {
		result ctrl.Result
		err    error
		again  time.Duration
		want   ctrl.Result
	}{
		"written":                {again: time.Minute, want: ctrl.Result{RequeueAfter: time.Minute}},
		"never":                  {},
		"the status is earlier":  {result: ctrl.Result{RequeueAfter: time.Second}, again: time.Minute, want: ctrl.Result{RequeueAfter: time.Second}},
		"the status is later":    {result: ctrl.Result{RequeueAfter: time.Hour}, again: time.Minute, want: ctrl.Result{RequeueAfter: time.Minute}},
		"the status, then never": {result: ctrl.Result{RequeueAfter: time.Second}, want: ctrl.Result{RequeueAfter: time.Second}},
		"a conflict":             {result: conflict, again: time.Minute, want: conflict},
		"an error":               {err: failed, again: time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := requeueAfter(tt.result, tt.err, tt.again)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("result %+v, error %v, want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
}
