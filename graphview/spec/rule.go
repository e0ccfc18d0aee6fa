package spec

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/refs"
)

// maxRuleReferences is the maximum number of references in a Rule, as in the ReferenceRule CRD.
const maxRuleReferences = 32

// ReasonInvalidPath is the reason of an InvalidError about a path of a Rule.
const ReasonInvalidPath = "InvalidPath"

// Rule is the spec of a ReferenceRule: the references of the objects of a kind, their
// health, or both. CompileRule checks it.
type Rule struct {
	From       graph.Kind
	References []RuleReference
	// ReplaceConventions turns the conventions off for all fields of the kind. Otherwise
	// they are off only for the fields that References name.
	ReplaceConventions bool
	// Health is an expression that returns the health of an object; "" for none.
	Health string
}

// HealthField is the path of Health in a ReferenceRule.
const HealthField = "spec.health.expression"

// declarableStates are the states that Health may return. An object that is being deleted
// is health.Terminating in any case.
var declarableStates = []string{
	string(health.OK), string(health.Progressing), string(health.Degraded), string(health.Suspended), string(health.Unknown),
}

// RuleReference finds references to other objects, by Path or by Expression.
type RuleReference struct {
	// Path leads to the names of objects of the kind To, and NamespacePath to their
	// namespaces. NamespacePath may be empty.
	Path, NamespacePath string
	To                  graph.Kind
	// Expression returns kinds, names and namespaces itself.
	Expression string
	// Type is graph.Direct or graph.Transitive; 0 means Direct.
	Type graph.ArcType
	// Word is the meaning of the reference, read from the object to its target. If it is "",
	// the name of the field suggests a word.
	Word string
}

// Costly reports whether the rule has expressions.
func (r *Rule) Costly() bool {
	return r.Health != "" || slices.ContainsFunc(r.References, func(of RuleReference) bool { return of.Expression != "" })
}

// isWord reports whether a text may be a Word.
var isWord = regexp.MustCompile(`^[a-z]+( [a-z]+)*$`).MatchString

// RuleProgram is a compiled Rule. It is immutable and may be shared.
type RuleProgram struct {
	Rule Rule
	// Paths and Expressions are the compiled references, each in the order of the rule.
	Paths       []refs.Compiled
	Expressions []RuleExpression
	// Health is nil if the rule has no health expression.
	Health *expr.Health
}

// RuleExpression is the compiled Expression of a RuleReference.
type RuleExpression struct {
	// Field is the path of the expression in the rule.
	Field   string
	Program *expr.References
	Arc     graph.ArcType
	Word    string
}

// CompileRule checks and compiles a rule. The error is an *InvalidError, or
// wraps that of ctx if the check was interrupted.
func CompileRule(ctx context.Context, turn expr.Turn, rule Rule) (*RuleProgram, error) {
	c := &compiler{ctx: ctx, turn: turn}
	p := &RuleProgram{Rule: rule}
	if rule.From.Kind == "" || strings.Contains(rule.From.Group+rule.From.Kind, "*") {
		c.addError("spec.from", "must be one kind and its group, without patterns")
	}
	switch n := len(rule.References); {
	case n == 0 && rule.Health == "":
		c.addError("spec", "declares nothing; set references, health or both")
	case n > maxRuleReferences:
		c.addError("spec.references", "must have at most %d references, has %d", maxRuleReferences, n)
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
		program, err := expr.CompileHealth(ctx, turn, rule.Health, declarableStates)
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

// add compiles one reference. badPath reports whether a path of the reference is invalid.
func (p *RuleProgram) add(c *compiler, path string, r *RuleReference) (badPath bool) {
	arc := r.Type
	if arc == 0 {
		arc = graph.Direct
	}
	switch {
	case r.Word != "" && (!isWord(r.Word) || len(r.Word) > graph.MaxWord):
		c.addError(path+".word", "must be lower-case words such as feeds or is backed up by, of at most %d letters and spaces together", graph.MaxWord)
	case arc != graph.Direct && arc != graph.Transitive:
		c.addError(path+".type", "must be r or t")
	case (r.Path == "") == (r.Expression == ""):
		c.addError(path, "has exactly one of path and expression; remove one, or make it two references")
	case r.Expression != "" && (r.NamespacePath != "" || r.To != graph.Kind{}):
		c.addError(path, "an expression names group, kind and namespace itself; remove to and namespacePath")
	case r.Expression != "":
		program, err := expr.CompileReferences(c.ctx, c.turn, r.Expression)
		if path += ".expression"; c.check(path, err) {
			p.Expressions = append(p.Expressions, RuleExpression{Field: path, Program: program, Arc: arc, Word: r.Word})
		}
	case r.To.Kind == "":
		c.addError(path+".to.kind", "must be the name of a kind: that of the names at path")
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
