package graphview

import (
	"context"
	"reflect"

	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
)

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
