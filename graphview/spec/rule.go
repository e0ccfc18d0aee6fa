package spec

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/refs"
)

// maxRuleReferences bounds a Rule, as the ReferenceRule CRD does.
const maxRuleReferences = 32

// ReasonInvalidPath is InvalidError's reason where a Rule's path cannot be
// followed.
const ReasonInvalidPath = "InvalidPath"

// Rule is what a ReferenceRule declares: what the objects of a kind refer to, how
// they are, or both. CompileRule checks it.
type Rule struct {
	From       graph.Kind
	References []RuleReference
	// ReplaceConventions: nothing is guessed of the kind by convention. Otherwise nothing
	// is guessed of the fields that References name.
	ReplaceConventions bool
	// Health is an expression that says how an object is; "" for none.
	Health string
}

// HealthField is the path of the expression in the rule.
const HealthField = "spec.health.expression"

// declarableStates are the states that the expression may return. A deleted object is
// health.Terminating in any case.
var declarableStates = []string{
	string(health.OK), string(health.Progressing), string(health.Degraded), string(health.Suspended), string(health.Unknown),
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
	// Word says what the reference means, read from the object to what it refers to. Without
	// one it is what the field's name suggests.
	Word string
}

// isWord tells what may be a Word.
var isWord = regexp.MustCompile(`^[a-z]+( [a-z]+)*$`).MatchString

// RuleProgram is a compiled Rule. It is immutable and may be shared.
type RuleProgram struct {
	Rule Rule
	// Paths and Expressions are what its references are, each in their order.
	Paths       []refs.Compiled
	Expressions []RuleExpression
	// Health is nil where the rule does not say how objects are.
	Health *expr.Health
}

// RuleExpression is an expression of one rule.
type RuleExpression struct {
	// Field is the expression's place in the rule.
	Field   string
	Program *expr.References
	Arc     graph.ArcType
	Word    string
}

// CompileRule checks everything a user wrote. The error is an
// *InvalidError, or the context's, and then nothing is known of the rule.
func CompileRule(ctx context.Context, rule Rule) (*RuleProgram, error) {
	c := &compiler{ctx: ctx}
	p := &RuleProgram{Rule: rule}
	if rule.From.Kind == "" || strings.Contains(rule.From.Group+rule.From.Kind, "*") {
		c.shape("spec.from", "must be one kind and its group, without patterns")
	}
	switch n := len(rule.References); {
	case n == 0 && rule.Health == "":
		c.shape("spec", "declares nothing; set references, health or both")
	case n > maxRuleReferences:
		c.shape("spec.references", "must have at most %d references, has %d", maxRuleReferences, n)
	}
	reason := reasonSpec
	for i := range rule.References[:min(len(rule.References), maxRuleReferences)] {
		before := len(c.errs)
		badPath := p.add(c, fmt.Sprintf("spec.references[%d]", i), &rule.References[i])
		if before == 0 && len(c.errs) > 0 && badPath {
			reason = ReasonInvalidPath
		}
	}
	if rule.Health != "" {
		program, err := expr.CompileHealth(ctx, rule.Health, declarableStates)
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

// add compiles one reference. It reports whether a path is what is wrong with it.
func (p *RuleProgram) add(c *compiler, path string, r *RuleReference) (badPath bool) {
	arc := r.Type
	if arc == 0 {
		arc = graph.Direct
	}
	switch {
	case r.Word != "" && (!isWord(r.Word) || len(r.Word) > graph.MaxWord):
		c.shape(path+".word", "must be lower-case words such as feeds or is backed up by, of at most %d letters and spaces together", graph.MaxWord)
	case arc != graph.Direct && arc != graph.Transitive:
		c.shape(path+".type", "must be r or t")
	case (r.Path == "") == (r.Expression == ""):
		c.shape(path, "has exactly one of path and expression; remove one, or make it two references")
	case r.Expression != "" && (r.NamespacePath != "" || r.To != graph.Kind{}):
		c.shape(path, "an expression names group, kind and namespace itself; remove to and namespacePath")
	case r.Expression != "":
		program, err := expr.CompileReferences(c.ctx, r.Expression)
		if path += ".expression"; c.check(path, err) {
			p.Expressions = append(p.Expressions, RuleExpression{Field: path, Program: program, Arc: arc, Word: r.Word})
		}
	case r.To.Kind == "":
		c.shape(path+".to.kind", "must be the name of a kind: that of the names at path")
	default:
		ok := c.check(path+".path", refs.CheckPath(r.Path))
		rule := refs.Rule{From: p.Rule.From, Path: r.Path, Type: arc, Word: r.Word, To: refs.Target{Group: refs.Part{Value: r.To.Group}, Kind: refs.Part{Value: r.To.Kind}}}
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
