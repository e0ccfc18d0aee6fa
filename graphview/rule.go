package graphview

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/refs"
)

// maxRuleReferences bounds a Rule, as the ReferenceRule CRD does.
const maxRuleReferences = 32

// ReasonInvalidPath is InvalidSpecError's reason where a Rule's path cannot be
// followed.
const ReasonInvalidPath = "InvalidPath"

// Rule is what a ReferenceRule declares: what the objects of a kind refer to.
// CompileRule checks it.
type Rule struct {
	From       graph.Kind
	References []RuleReference
}

// RuleReference is one way to refer to others: with Path, or with Expression.
type RuleReference struct {
	// Path leads to names of objects of the kind To, NamespacePath, which may be
	// empty, to their namespaces.
	Path, NamespacePath string
	To                  graph.Kind
	// Expression says all of that itself.
	Expression string
	// Type is graph.Direct or graph.Transitive; 0 means Direct.
	Type graph.ArcType
}

// RuleProgram is a compiled Rule. It is immutable and may be shared.
type RuleProgram struct {
	rule Rule
	// work and budget are set when it is applied: what is noted while it is
	// evaluated, and what its expressions may cost.
	work        quarantine.Work
	budget      *costBudget
	paths       []refs.Rule
	expressions []ruleExpression
}

// ruleExpression is an expression of one rule.
type ruleExpression struct {
	path    string // of the expression in the rule
	program *expr.References
	arc     graph.ArcType
}

// CompileRule checks everything a user wrote. The error is an
// *InvalidSpecError, or the context's, and then nothing is known of the rule.
func CompileRule(ctx context.Context, rule Rule) (*RuleProgram, error) {
	c := &compiler{ctx: ctx}
	p := &RuleProgram{rule: rule}
	if rule.From.Kind == "" || strings.Contains(rule.From.Group+rule.From.Kind, "*") {
		c.shape("spec.from", "must be one kind and its group, without patterns")
	}
	if n := len(rule.References); n < 1 || n > maxRuleReferences {
		c.shape("spec.references", "must have between 1 and %d references, has %d", maxRuleReferences, n)
	}
	reason := reasonSpec
	for i := range rule.References[:min(len(rule.References), maxRuleReferences)] {
		before := len(c.errs)
		badPath := p.add(c, fmt.Sprintf("spec.references[%d]", i), &rule.References[i])
		if before == 0 && len(c.errs) > 0 && badPath {
			reason = ReasonInvalidPath
		}
	}
	if len(c.errs) == 0 {
		// Whatever the parts do not show of themselves, together they do.
		_, err := refs.Extended(map[graph.Kind][]refs.Rule{rule.From: p.paths})
		c.check("spec.references", err)
	}
	if c.interrupted {
		return nil, fmt.Errorf("compile: %w", context.Cause(ctx))
	}
	if len(c.errs) > 0 {
		return nil, &InvalidSpecError{Reason: reason, Errors: c.errs}
	}
	return p, nil
}

// add compiles one reference. It tells whether a path is what is wrong with it.
func (p *RuleProgram) add(c *compiler, path string, r *RuleReference) (badPath bool) {
	arc := r.Type
	if arc == 0 {
		arc = graph.Direct
	}
	switch {
	case arc != graph.Direct && arc != graph.Transitive:
		c.shape(path+".type", "must be r or t")
	case (r.Path == "") == (r.Expression == ""):
		c.shape(path, "has exactly one of path and expression; remove one, or make it two references")
	case r.Expression != "" && (r.NamespacePath != "" || r.To != graph.Kind{}):
		c.shape(path, "an expression names group, kind and namespace itself; remove to and namespacePath")
	case r.Expression != "":
		program, err := expr.CompileReferences(c.ctx, r.Expression)
		if path += ".expression"; c.check(path, err) {
			p.expressions = append(p.expressions, ruleExpression{path: path, program: program, arc: arc})
		}
	case r.To.Kind == "":
		c.shape(path+".to.kind", "must be the name of a kind: that of the names at path")
	default:
		ok := c.check(path+".path", refs.CheckPath(r.Path))
		rule := refs.Rule{Path: r.Path, Type: arc, To: refs.Target{Group: refs.Part{Value: r.To.Group}, Kind: refs.Part{Value: r.To.Kind}}}
		if ok && r.NamespacePath != "" {
			ok = c.check(path+".namespacePath", refs.CheckCompanion(r.NamespacePath, r.Path))
			rule.Namespace = []string{refs.FromRoot(r.NamespacePath)}
		}
		p.paths = append(p.paths, rule)
		return !ok
	}
	return false
}

// ApplyRule makes the rule of that name what it says, on open streams too. It is
// level-based. The error is an *InvalidSpecError: the rule is not in force, nor is
// what it was before. Or it is the context's, and nothing has changed.
func (e *Engine) ApplyRule(ctx context.Context, name string, rule Rule) error {
	before := e.rules.named(name)
	if before != nil && reflect.DeepEqual(before.rule, rule) {
		return nil
	}
	var p *RuleProgram
	work := workOf(workRule, "", name, rule)
	err := e.compiled(ctx, work, func() (err error) {
		p, err = CompileRule(ctx, rule)
		return err
	})
	if unknown(err) {
		return err
	}
	if p != nil {
		p.work, p.budget = work, &costBudget{}
		p.budget.reset(e.o.Budget)
		if before != nil {
			p.budget.bucket.Store(before.budget.bucket.Load())
			p.budget.edited(time.Now())
		}
	}
	return errors.Join(err, e.rules.declare(name, p))
}

// RemoveRule ends the rule, if there is one.
func (e *Engine) RemoveRule(name string) error { return e.rules.declare(name, nil) }
