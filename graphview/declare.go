package graphview

import (
	"context"
	"reflect"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
)

// Compiling returns a context under which expressions are compiled in turns of the owner.
func (e *Engine) Compiling(ctx context.Context, owner budget.Owner) context.Context {
	return compiling(ctx, e.processors, owner)
}

// ApplyRule puts a rule into force under a name, on open streams too. It is level-based. After a
// *spec.InvalidError no rule of that name is in force. After the context's error nothing has changed.
func (e *Engine) ApplyRule(ctx context.Context, name string, declared spec.Rule) error {
	before := e.rules.Named(name)
	if before != nil && reflect.DeepEqual(before.Rule, declared) {
		return nil
	}
	declaration := workOf(workRule, "", name, declared)
	program, err := compiled(ctx, e.processors, rules.Owner, declaration, declared, spec.CompileRule)
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
	program, err := compiled(ctx, e.processors, o.Owner, request, o.Spec, spec.Compile)
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

// Ledger returns the ledger of all memory that owners hold.
func (e *Engine) Ledger() *budget.Ledger { return e.ledger }

// Relieve takes memory back from the owner that holds the most. The caller has found that the process
// is short of memory, though no owner exceeds its share. The engine retries the views that it ends, as
// it retries views that exceed a limit.
func (e *Engine) Relieve() {
	if owner, ok := e.ledger.Relieve(); ok {
		e.o.Logger.Info("A view or a connection is not served, because the process has too little memory left", "owner", owner.String())
	}
}
