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

// Reasons of an spec.InvalidError that do not come from the compiler.
const (
	// ReasonQuarantined: the process has ended before during work for the spec.
	ReasonQuarantined = "Quarantined"
	// ReasonInternalError: the compiler panicked.
	ReasonInternalError = "InternalError"
)

// The kinds of Work that are no resource.
const (
	workView    = "GraphView"
	workRequest = "graph request"
	workRule    = "ReferenceRule"
)

// workOf returns the work for a spec.
func workOf(kind, namespace, name string, declared any) quarantine.Work {
	h := fnv.New64a()
	// A spec is text and numbers: it always encodes.
	_ = json.NewEncoder(h).Encode(declared)
	return quarantine.Work{Kind: kind, Namespace: namespace, Name: name, Version: h.Sum64()}
}

// compiled compiles a spec, in turns of its owner. The error is that of the compiler, which is an
// *spec.InvalidError or a context's, or says that the spec has ended the process before.
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

// compiling returns a context under which expressions are compiled in turns of the owner.
func compiling(ctx context.Context, turns *quota.Processors, owner budget.Owner) context.Context {
	return expr.WithTurn(ctx, turns.Turn(owner))
}

// unknown reports whether compilation was given up: it says nothing about the spec.
func unknown(err error) bool {
	_, invalid := errors.AsType[*spec.InvalidError](err)
	return err != nil && !invalid
}

// refusedSpec is the error for a spec that is not compiled.
func refusedSpec(err error) error {
	if refusal, ok := errors.AsType[*quarantine.Refusal](err); ok {
		return &spec.InvalidError{Reason: ReasonQuarantined, Errors: []error{fmt.Errorf("spec: %w", refusal)}}
	}
	return fmt.Errorf("compile: %w", err)
}
