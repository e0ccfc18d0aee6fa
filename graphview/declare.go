package graphview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/rules"
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
func compiled[S, P any](ctx context.Context, e *Engine, owner budget.Owner, w quarantine.Work, declared S, compile func(context.Context, S) (P, error)) (program P, err error) {
	task, err := e.processors.Begin(ctx, owner, w)
	if err != nil {
		return program, refusedSpec(err)
	}
	defer task.End()
	ctx = task.Within(e.Compiling(ctx, owner))
	err = func() (err error) {
		defer panics.Recover(&err)
		program, err = compile(ctx, declared)
		return err
	}()
	if err != nil && e.processors.LogPanic(err, w.Kind) {
		return program, &spec.InvalidError{Reason: ReasonInternalError, Errors: []error{fmt.Errorf("spec: %w", err)}}
	}
	return program, err
}

// Compiling returns a context under which expressions are compiled in turns of the owner.
func (e *Engine) Compiling(ctx context.Context, owner budget.Owner) context.Context {
	return expr.WithTurn(ctx, e.processors.Turn(owner))
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

// ApplyRule puts a rule into force under a name, on open streams too. It is level-based. After a
// *spec.InvalidError no rule of that name is in force. After the context's error nothing has changed.
func (e *Engine) ApplyRule(ctx context.Context, name string, declared spec.Rule) error {
	before := e.rules.Named(name)
	if before != nil && reflect.DeepEqual(before.Rule, declared) {
		return nil
	}
	declaration := workOf(workRule, "", name, declared)
	program, err := compiled(ctx, e, rules.Owner, declaration, declared, spec.CompileRule)
	if unknown(err) {
		return err
	}
	var r *rules.Rule
	if program != nil {
		r = &rules.Rule{RuleProgram: program, Work: declaration, Budget: e.newBudget(rules.Owner)}
	}
	e.rules.Declare(name, r)
	return err
}

// RemoveRule removes the rule of that name, if it exists.
func (e *Engine) RemoveRule(name string) { e.rules.Declare(name, nil) }

// RuleEffect describes a rule that is in force.
type RuleEffect = rules.Effect

// RuleEffect describes the rule of that name.
func (e *Engine) RuleEffect(ctx context.Context, name string) RuleEffect {
	return e.rules.Effect(ctx, name, e.Served(), e.schemas)
}

// ServedChanged is closed when the cluster serves other kinds than now.
func (e *Engine) ServedChanged() <-chan struct{} {
	_, changed := e.discovery.Current()
	return changed
}

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
