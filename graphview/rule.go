package graphview

import (
	"context"
	"reflect"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/spec"
)

// rule is one that is in force, under the name of its ReferenceRule.
type rule struct {
	*spec.RuleProgram

	// work is what is noted while it is evaluated, and budget what its expressions may
	// cost.
	work   quarantine.Work
	budget *costBudget
}

// rulesOwner is the owner of all ReferenceRules: they belong to the cluster.
var rulesOwner = budget.NamespaceOwner("")

// ApplyRule puts a rule into force under a name, on open streams too. It is level-based.
// After a *spec.InvalidError no rule of that name is in force. After the context's error
// nothing has changed.
func (e *Engine) ApplyRule(ctx context.Context, name string, declared spec.Rule) error {
	before := e.rules.named(name)
	if before != nil && reflect.DeepEqual(before.Rule, declared) {
		return nil
	}
	var program *spec.RuleProgram
	work := workOf(workRule, "", name, declared)
	err := e.compiled(ctx, rulesOwner, work, func(ctx context.Context) (err error) {
		program, err = spec.CompileRule(ctx, declared)
		return err
	})
	if unknown(err) {
		return err
	}
	var r *rule
	if program != nil {
		r = &rule{RuleProgram: program, work: work, budget: e.newCostBudget(rulesOwner)}
	}
	e.rules.declare(name, r)
	return err
}

// RemoveRule removes the rule of that name, if there is one.
func (e *Engine) RemoveRule(name string) { e.rules.declare(name, nil) }
