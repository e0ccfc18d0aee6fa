package graphview

import (
	"context"
	"errors"
	"testing"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/configmaps"
)

// TestViewOfAStoppedEngine: a view that is opened after the engine has stopped ends at once,
// like a view opened before, so that no caller waits forever.
func TestViewOfAStoppedEngine(t *testing.T) {
	e, err := NewEngine(Options{Config: configmaps.Serve(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	name := Name{Namespace: "shop", Name: "late"}
	if err := e.Apply(t.Context(), name, "uid", selecting(v1alpha1.ObjectFilter{})); err != nil {
		t.Fatal(err)
	}
	v, _ := e.View(name)
	s := v.Subscribe(delivery.SubscribeOptions{})
	defer s.Close()
	for what, err := range map[string]error{"WaitSynced": v.WaitSynced(t.Context()), "Next": func() error { _, err := s.Next(t.Context()); return err }()} {
		if closed, ok := errors.AsType[*delivery.ClosedError](err); !ok || closed.Reason != reason.Stopping {
			t.Errorf("%s: %v, want %s", what, err, reason.Stopping)
		}
	}
}
