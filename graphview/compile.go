package graphview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/spec"
)

// Reasons of a spec.InvalidError that the compiler does not use.
const (
	// ReasonQuarantined: an earlier process ended while it worked on the spec.
	ReasonQuarantined = "Quarantined"
	// ReasonInternalError: the compiler panicked.
	ReasonInternalError = "InternalError"
)

// The kinds of quarantine.Work that are not resources.
const (
	workView    = "GraphView"
	workRequest = "graph request"
	workRule    = "ReferenceRule"
)

// workOf returns the quarantine.Work for a spec. The version is a hash of the spec.
func workOf(kind, namespace, name string, declared any) quarantine.Work {
	h := fnv.New64a()
	// A spec has only text and numbers, so encoding cannot fail.
	_ = json.NewEncoder(h).Encode(declared)
	return quarantine.Work{Kind: kind, Namespace: namespace, Name: name, Version: h.Sum64()}
}

// compiled compiles a spec in turns of its owner. The error is a *spec.InvalidError if the spec is
// invalid or quarantined or the compiler panicked, or the context's error.
func compiled[S, P any](ctx context.Context, turns *quota.Processors, owner budget.Owner, w quarantine.Work, declared S, compile func(context.Context, S) (P, error)) (program P, err error) {
	task, err := turns.Begin(ctx, owner, w)
	if err != nil {
		return program, refusedSpec(err)
	}
	defer task.End()
	ctx = task.Within(compiling(ctx, turns, owner))
	err = func() (err error) {
		defer panics.Recover(&err)
		program, err = compile(ctx, declared)
		return err
	}()
	if err != nil && turns.LogPanic(err, w.Kind) {
		return program, &spec.InvalidError{Reason: ReasonInternalError, Errors: []error{fmt.Errorf("spec: %w", err)}}
	}
	return program, err
}

// compiling returns a context for compiling expressions in turns of the owner.
func compiling(ctx context.Context, turns *quota.Processors, owner budget.Owner) context.Context {
	return expr.WithTurn(ctx, turns.Turn(owner))
}

// compileAborted reports whether err ended the compilation early, so that it says nothing about the spec.
func compileAborted(err error) bool {
	_, invalid := errors.AsType[*spec.InvalidError](err)
	return err != nil && !invalid
}

// refusedSpec returns the error for a spec whose compilation has not begun.
func refusedSpec(err error) error {
	if refusal, ok := errors.AsType[*quarantine.Refusal](err); ok {
		return &spec.InvalidError{Reason: ReasonQuarantined, Errors: []error{fmt.Errorf("spec: %w", refusal)}}
	}
	return fmt.Errorf("compile: %w", err)
}
