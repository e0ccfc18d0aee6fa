package spec

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/refs"
)

// maxRuleReferences is the maximum number of references in a rule, as in the ReferenceRule CRD.
const maxRuleReferences = 32

// HealthField is the path of the health expression in a ReferenceRule.
const HealthField = "spec.health.expression"

// declarableStates are the states that a health expression may return. An object that is being deleted
// is health.Terminating in any case.
var declarableStates = []string{
	string(health.OK), string(health.Progressing), string(health.Degraded), string(health.Suspended), string(health.Unknown),
}

// isWord reports whether a text may be the word of a reference.
var isWord = regexp.MustCompile(`^[a-z]+( [a-z]+)*$`).MatchString

// RuleProgram is the compiled spec of a ReferenceRule: the references of the objects of a kind, their
// health, or both. It is immutable and may be shared.
type RuleProgram struct {
	Rule v1alpha1.ReferenceRuleSpec
	// Paths and Expressions are the compiled references, each in the order of the rule.
	Paths       []refs.Compiled
	Expressions []RuleExpression
	// Health is nil if the rule has no health expression.
	Health *expr.Health
}

// From is the kind that the rule is about.
func (p *RuleProgram) From() graph.Kind { return graph.Kind(p.Rule.From) }

// Replaces reports whether the conventions are off for all fields of the kind. Otherwise they are off
// only for the fields that the rule names.
func (p *RuleProgram) Replaces() bool {
	return p.Rule.Conventions == v1alpha1.ConventionsReplace && len(p.Rule.References) > 0
}

// RuleExpression is a compiled expression for references.
type RuleExpression struct {
	// Field is the path of the expression in the rule.
	Field   string
	Program *expr.References
	Arc     graph.ArcType
	Word    string
}

// CompileRule checks and compiles a rule. The error is an *InvalidError, or
// wraps that of ctx if the check was interrupted.
func CompileRule(ctx context.Context, turn expr.Turn, rule v1alpha1.ReferenceRuleSpec) (*RuleProgram, error) {
	c := &compiler{ctx: ctx, turn: turn}
	p := &RuleProgram{Rule: rule}
	for i := range rule.References {
		if arc := arcOf(&rule.References[i]); arc != graph.Direct && arc != graph.Transitive {
			c.unsupported(fmt.Sprintf("spec.references[%d].type", i), "unknown reference type %q, expected r or t", rule.References[i].Type)
		}
	}
	if of := rule.Conventions; of != "" && of != v1alpha1.ConventionsKeep && of != v1alpha1.ConventionsReplace {
		c.unsupported("spec.conventions", "unknown policy %q, expected Keep or Replace", of)
	}
	if len(c.errs) > 0 {
		return nil, &InvalidError{Reason: v1alpha1.ReasonUnsupported, Errors: c.errs}
	}
	if rule.From.Kind == "" || strings.Contains(rule.From.Group+rule.From.Kind, "*") {
		c.addError("spec.from", "must be one kind and its group, without patterns")
	}
	switch n := len(rule.References); {
	case n == 0 && rule.Health == nil:
		c.addError("spec", "declares nothing; set references, health or both")
	case n > maxRuleReferences:
		c.addError("spec.references", "must have at most %d references, has %d", maxRuleReferences, n)
	}
	reason := reasonSpec
	for i := range rule.References[:min(len(rule.References), maxRuleReferences)] {
		before := len(c.errs)
		badPath := p.add(c, fmt.Sprintf("spec.references[%d]", i), &rule.References[i])
		if before == 0 && len(c.errs) > 0 && badPath {
			reason = v1alpha1.ReasonInvalidPath
		}
	}
	if rule.Health != nil {
		program, err := expr.CompileHealth(ctx, turn, rule.Health.Expression, declarableStates)
		if c.check(HealthField, err) {
			p.Health = program
		}
	}
	if c.interrupted {
		return nil, fmt.Errorf("compile: %w", context.Cause(ctx))
	}
	if len(c.errs) > 0 {
		return nil, &InvalidError{Reason: reason, Errors: c.errs}
	}
	return p, nil
}

// arcOf returns the type of the arcs of a reference, 0 if it is unknown.
func arcOf(r *v1alpha1.ReferenceDeclaration) graph.ArcType {
	if r.Type == "" {
		return graph.Direct
	}
	arc, _ := graph.ParseArcType(string(r.Type))
	return arc
}

// add compiles one reference. badPath reports whether a path of the reference is invalid.
func (p *RuleProgram) add(c *compiler, path string, r *v1alpha1.ReferenceDeclaration) (badPath bool) {
	arc := arcOf(r)
	switch {
	case r.Word != "" && (!isWord(r.Word) || len(r.Word) > graph.MaxWord):
		c.addError(path+".word", "must be lower-case words such as feeds or is backed up by, of at most %d letters and spaces together", graph.MaxWord)
	case (r.Path == "") == (r.Expression == ""):
		c.addError(path, "has exactly one of path and expression; remove one, or make it two references")
	case r.Expression != "" && (r.NamespacePath != "" || r.To != nil):
		c.addError(path, "an expression names group, kind and namespace itself; remove to and namespacePath")
	case r.Expression != "":
		program, err := expr.CompileReferences(c.ctx, c.turn, r.Expression)
		if path += ".expression"; c.check(path, err) {
			p.Expressions = append(p.Expressions, RuleExpression{Field: path, Program: program, Arc: arc, Word: r.Word})
		}
	case r.To == nil || r.To.Kind == "":
		c.addError(path+".to.kind", "must be the name of a kind: that of the names at path")
	default:
		ok := c.check(path+".path", refs.CheckPath(r.Path))
		rule := refs.Rule{From: p.From(), Path: r.Path, Type: arc, Word: r.Word, To: refs.Target{Group: refs.Part{Value: r.To.Group}, Kind: refs.Part{Value: r.To.Kind}}}
		if ok && r.NamespacePath != "" {
			ok = c.check(path+".namespacePath", refs.CheckCompanion(r.NamespacePath, r.Path))
			rule.Namespace = []string{refs.FromRoot(r.NamespacePath)}
		}
		if !ok || len(c.errs) > 0 {
			return !ok
		}
		compiled, err := refs.Compile(&rule)
		if c.check(path+".path", err) {
			p.Paths = append(p.Paths, compiled)
		}
		return err != nil
	}
	return false
}
