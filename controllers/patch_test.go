package controllers

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestUnpatched(t *testing.T) {
	views := schema.GroupResource{Group: "graphview.dev", Resource: "graphviews"}
	refused := errors.New("connection refused")
	tests := map[string]struct {
		err          error
		want         ctrl.Result
		wantError    bool
		wantTerminal bool
	}{
		"conflict":    {err: apierrors.NewConflict(views, "web", errors.New("modified")), want: ctrl.Result{Requeue: true}}, //nolint:staticcheck // see unpatched
		"deleted":     {err: apierrors.NewNotFound(views, "web")},
		"unreachable": {err: refused, wantError: true},
		"forbidden":   {err: apierrors.NewForbidden(views, "web", refused), wantError: true},
		"invalid":     {err: apierrors.NewInvalid(schema.GroupKind{Kind: "GraphView"}, "web", nil), wantError: true, wantTerminal: true},
		"too large":   {err: apierrors.NewRequestEntityTooLargeError("limit"), wantError: true, wantTerminal: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := unpatched(tt.err)
			if got != tt.want || (err != nil) != tt.wantError {
				t.Errorf("result %+v, error %v, want %+v, error %t", got, err, tt.want, tt.wantError)
			}
			if err != nil && !errors.Is(err, tt.err) {
				t.Errorf("error %v does not hold %v", err, tt.err)
			}
			if terminal := errors.Is(err, reconcile.TerminalError(nil)); terminal != tt.wantTerminal {
				t.Errorf("terminal %t, want %t", terminal, tt.wantTerminal)
			}
		})
	}
}
