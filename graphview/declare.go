package graphview

import (
	"context"
	"reflect"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
)

// ApplyRule compiles a rule and puts it into force, also for open streams. It is level-based. After a
// *spec.InvalidError, no rule of that name is in force. After the context's error, nothing has changed.
func (e *Engine) ApplyRule(ctx context.Context, name string, declared v1alpha1.ReferenceRuleSpec) error {
	before := e.rules.Named(name)
	if before != nil && reflect.DeepEqual(before.Rule, declared) {
		return nil
	}
	program, err := compiled(ctx, e, compilation{"ReferenceRule", rules.Owner, spec.CostlyRule(&declared)}, func(ctx context.Context, turn expr.Turn) (*spec.RuleProgram, error) {
		return spec.CompileRule(ctx, turn, declared)
	})
	if compileAborted(err) {
		return err
	}
	var r *rules.Rule
	if program != nil {
		r = &rules.Rule{RuleProgram: program, Budget: e.newBudget(rules.Owner)}
	}
	e.rules.Declare(name, r)
	return err
}

// RemoveRule removes the rule with a name, if it exists.
func (e *Engine) RemoveRule(name string) { e.rules.Declare(name, nil) }

// RuleEffect is the effect of a rule that is in force.
type RuleEffect = rules.Effect

// RuleEffect returns the effect of the rule with a name.
func (e *Engine) RuleEffect(ctx context.Context, name string) RuleEffect {
	return e.rules.Effect(ctx, name, e.Served(), e.schemas)
}

// ServedChanged returns a channel that is closed when the served kinds change.
func (e *Engine) ServedChanged() <-chan struct{} {
	_, changed := e.discovery.Current()
	return changed
}

// OpenOptions are the options of an ad-hoc view.
type OpenOptions struct {
	Spec v1alpha1.GraphViewSpec
	// Subscriber is the author of the spec. The view gets no objects that it may not read, so its expressions
	// cannot reveal them. Its owner pays for the view's expressions and memory. Required.
	Subscriber user.Info
	// Rights know those of the subscriber. Required.
	Rights *rights.Permissions
}

// Open creates an ad-hoc view: a view for one connection, without a name. It shares watches with other
// views. The caller closes it with CloseView. The error is a *spec.InvalidError, a *ClosedError if the
// owner may hold no more memory or the engine is stopping, or the context's.
func (e *Engine) Open(ctx context.Context, o OpenOptions) (*View, error) {
	owner := budget.UserOwner(o.Subscriber)
	account := e.ledger.Account(owner)
	if err := account.Set(budget.Programs, compiledBytes(&o.Spec)); err != nil {
		return nil, &delivery.ClosedError{Reason: reason.LimitExceeded, Message: err.Error()}
	}
	opened := false
	defer func() {
		if !opened {
			account.Close()
		}
	}()
	program, err := compiled(ctx, e, compilation{"graph request", owner, spec.Costly(&o.Spec)}, func(ctx context.Context, turn expr.Turn) (*spec.Program, error) {
		return spec.Compile(ctx, turn, o.Spec)
	})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil, stopping
	}
	v := newView(e, Name{Name: "connection"}, delivery.NewID())
	v.subscriber, v.subscribers, v.named = o.Subscriber, o.Rights, false
	v.evaluator.Mark(v.mark())
	v.chargeTo(account)
	opened = true
	v.setProgram(program, nil)
	e.opened[v] = struct{}{}
	e.startLocked(v)
	return v, nil
}

// CloseView ends a view that Open created, and releases its watches.
func (e *Engine) CloseView(v *View) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.opened[v]; ok {
		delete(e.opened, v)
		v.end(deleted)
	}
}

// Ledger returns the ledger of the memory that owners hold.
func (e *Engine) Ledger() *budget.Ledger { return e.ledger }

// Relieve makes the owner that holds the most memory release some. The caller calls it when the process
// is short of memory although no owner exceeds its share. The engine later retries a view that is then
// not served, like a view that exceeds a limit.
func (e *Engine) Relieve() {
	if owner, ok := e.ledger.Relieve(); ok {
		e.o.Logger.Info("A view or a connection is not served, because the process has too little memory left", "owner", owner.String())
	}
}
