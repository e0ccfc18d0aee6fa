package graphview

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
)

// OpenOptions are those of an ad-hoc view.
type OpenOptions struct {
	Spec spec.Spec
	// Permit is that of the subscriber, who wrote the spec. The view gets no other objects, so that
	// its expressions cannot probe objects that the subscriber may not read. Required.
	Permit Permit
	// Owner is charged for the view's expressions and memory: that of the subscriber.
	Owner budget.Owner
}

// Open makes an ad-hoc view: a view for one connection, without a name. It runs as named views do and
// shares their watches. The caller has to close it with CloseView. The error is an *spec.InvalidError,
// a *ClosedError if its owner may hold no more memory or the engine is stopping, or the context's.
func (e *Engine) Open(ctx context.Context, o OpenOptions) (*View, error) {
	account := e.ledger.Account(o.Owner)
	if err := account.Set(budget.Programs, compiledBytes(&o.Spec)); err != nil {
		return nil, &delivery.ClosedError{Reason: reason.LimitExceeded, Message: err.Error()}
	}
	opened := false
	defer func() {
		if !opened {
			account.Close()
		}
	}()
	request := workOf(workRequest, "", o.Owner.String(), o.Spec)
	program, err := compiled(ctx, e, o.Owner, request, o.Spec, spec.Compile)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil, stopping
	}
	v := newView(e, Name{Name: "connection"}, delivery.NewID())
	v.permit, v.named = o.Permit, false
	v.evaluator.Record(request)
	v.chargeTo(account)
	opened = true
	v.setProgram(&o.Spec, program, nil)
	e.opened[v] = struct{}{}
	e.startLocked(v)
	return v, nil
}

// CloseView ends a view that Open made, and releases its watches.
func (e *Engine) CloseView(v *View) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.opened[v]; ok {
		delete(e.opened, v)
		v.end(deleted)
	}
}
