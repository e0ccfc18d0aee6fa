package graphview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/spec"
)

// compilation describes a spec for compiled.
type compilation struct {
	kind   string // in the log of a panic
	owner  budget.Owner
	costly bool
}

// compiled compiles a spec in turns of its owner. The error is a *spec.InvalidError if the spec is
// invalid, costly specs are refused or the compiler panicked, or the context's error.
func compiled[P any](ctx context.Context, e *Engine, of compilation, compile func(context.Context, expr.Turn) (P, error)) (program P, err error) {
	if of.costly && e.refusesCostly() {
		return program, &spec.InvalidError{Reason: v1alpha1.ReasonQuarantined, Until: e.o.RefuseUntil, Errors: []error{fmt.Errorf(
			"spec: the operator ended twice within minutes, perhaps because of an expression, so it refuses expressions until %s and tries this spec again then",
			e.o.RefuseUntil.UTC().Format(time.RFC3339))}}
	}
	err = func() (err error) {
		defer panics.Recover(&err)
		program, err = compile(ctx, e.Turn(of.owner))
		return err
	}()
	if err != nil && e.processors.LogPanic(err, of.kind) {
		return program, &spec.InvalidError{Reason: v1alpha1.ReasonInternalError, Errors: []error{fmt.Errorf("spec: %w", err)}}
	}
	return program, err
}

// refusesCostly reports whether the engine refuses specs with expressions that may be costly.
func (e *Engine) refusesCostly() bool { return time.Now().Before(e.o.RefuseUntil) }

// Turn returns the function with which compilations of expressions of an owner wait for a turn.
func (e *Engine) Turn(owner budget.Owner) expr.Turn { return e.processors.Turn(owner) }

// compileAborted reports whether err ended the compilation early, so that it says nothing about the spec.
func compileAborted(err error) bool {
	_, invalid := errors.AsType[*spec.InvalidError](err)
	return err != nil && !invalid
}

// unserved returns the error for streams of a view whose spec was refused. Clients try again later if
// the spec may be accepted then.
func unserved(err error) *delivery.ClosedError {
	closed := &delivery.ClosedError{Reason: reason.Invalid, Message: err.Error()}
	if invalid, ok := errors.AsType[*spec.InvalidError](err); ok && !invalid.Until.IsZero() {
		closed.Reason = reason.Unavailable
	}
	return closed
}
