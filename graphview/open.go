package graphview

import (
	"context"
	"fmt"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
)

// OpenOptions describe a view that is made for one connection.
type OpenOptions struct {
	Spec spec.Spec
	// Permit is that of the subscriber, who wrote the spec: the view is fed with
	// nothing else, so that its expressions cannot probe what it may not read.
	// Required.
	Permit Permit
	// Owner is that of the user who asks, to whom the cost of the view's expressions
	// is charged.
	Owner budget.Owner
}

// Open makes a view that has no name and nobody else can find. It runs as named
// views do and shares their watches. The caller gives it back with CloseView.
// The error is an *spec.InvalidError, a *ClosedError when there are too many
// or the engine is stopping, or the context's.
func (e *Engine) Open(ctx context.Context, o OpenOptions) (*View, error) {
	var program *spec.Program
	request := workOf(workRequest, "", o.Owner.String(), o.Spec)
	if err := e.compiled(ctx, o.Owner, request, func(ctx context.Context) (err error) {
		program, err = spec.Compile(ctx, o.Spec)
		return err
	}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.stopped:
		return nil, stopping
	case len(e.opened) >= e.o.MaxOpened:
		return nil, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: fmt.Sprintf(
			"there are %d views for single connections already; try later, or ask for a GraphView", e.o.MaxOpened)}
	}
	v := newView(e, Name{Name: "connection"}, delivery.NewID())
	v.permit, v.named = o.Permit, false
	v.evaluator.Record(request)
	v.chargeTo(o.Owner)
	v.setProgram(&o.Spec, program, nil)
	e.opened[v] = struct{}{}
	e.startLocked(v)
	return v, nil
}

// CloseView ends a view that Open made. What only it watched is released.
func (e *Engine) CloseView(v *View) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.opened[v]; ok {
		delete(e.opened, v)
		v.end(deleted)
	}
}
