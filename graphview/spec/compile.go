package spec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
)

// The bounds of a spec, the same as those of the GraphView CRD.
const (
	maxQueries = 64
	maxRoots   = graph.MaxRoots
	maxNames   = 1024
)

// reasonSpec is the reason of an InvalidError about the structure of a spec.
// For a GraphView, the rules of the CRD refuse such a spec earlier.
const reasonSpec = string(expr.InvalidExpression)

// InvalidError describes the faults of a spec or a rule. It is terminal: a
// retry is useless until the spec changes, or after Until.
type InvalidError struct {
	// Reason is InvalidExpression, InvalidSelector, InvalidJSONPath, Unsupported or, for a
	// rule, InvalidPath: that of the first error.
	Reason string
	// Until is the time at which the spec may be accepted as it is. Usually it is zero: never.
	Until time.Time
	// Errors are all errors in the spec, in its order. Each has the path of its
	// field, the position in the text, and the expected text.
	Errors []error
}

func (e *InvalidError) Error() string { return strings.Join(e.Texts(), "; ") }

// Texts returns the text of each error. It begins with the path of the field.
func (e *InvalidError) Texts() []string {
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return texts
}

func (e *InvalidError) Unwrap() []error { return e.Errors }

// compiler collects all errors, so that the author of a spec sees them at once.
type compiler struct {
	ctx  context.Context //nolint:containedctx // that of one call of Compile
	turn expr.Turn
	errs []error
	// interrupted: the context ended before everything was checked.
	interrupted bool
	// text is the length of the text so far, in bytes; see maxText.
	text int
}

func (c *compiler) check(path string, err error) bool {
	if err == nil {
		return true
	}
	if c.ctx.Err() != nil {
		c.interrupted = true
		return false
	}
	if text, ok := errors.AsType[*expr.Error](err); ok {
		err = text.At(path)
	} else {
		err = fmt.Errorf("%s: %w", path, err)
	}
	c.errs = append(c.errs, err)
	return false
}

func (c *compiler) addError(path, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
}

// unsupported adds the error about a value at path that this version of the
// operator does not know. Its CustomResourceDefinition does not admit the value,
// but that of another version may have.
func (c *compiler) unsupported(path, format string, args ...any) {
	c.addError(path, format+"; change the spec, or upgrade the operator", args...)
}

// Compile checks and compiles a spec. The error is an *InvalidError, or wraps
// that of ctx if the check was interrupted.
func Compile(ctx context.Context, turn expr.Turn, declared v1alpha1.GraphViewSpec) (*Program, error) {
	c := &compiler{ctx: ctx, turn: turn}
	p := &Program{Spec: declared}
	if of := declared.InferredReferences; of != "" && of != v1alpha1.IncludeInferred && of != v1alpha1.ExcludeInferred {
		c.unsupported("spec.inferredReferences", "must be Include or Exclude, is %q", of)
	}
	roots := declared.Roots
	if roots != nil && len(roots.Objects)+len(roots.ObjectSelectorExpressions) == 0 {
		roots = nil // they restrict nothing
	}
	if roots != nil {
		p.Walk = c.walk("spec.roots", roots)
	}
	if len(c.errs) > 0 {
		return nil, &InvalidError{Reason: v1alpha1.ReasonUnsupported, Errors: c.errs}
	}
	if c.text = TextLen(&declared); c.text > maxText {
		c.addError("spec", tooMuchText, maxText, c.text)
		return nil, &InvalidError{Reason: reasonSpec, Errors: c.errs}
	}
	if n := len(declared.Queries); n < 1 || n > maxQueries {
		c.addError("spec.queries", "must have between 1 and %d queries, has %d", maxQueries, n)
	}
	// Compile no more queries than allowed, since that could be a lot of work.
	for i := range declared.Queries[:min(len(declared.Queries), maxQueries)] {
		p.Queries = append(p.Queries, c.query(fmt.Sprintf("spec.queries[%d]", i), &declared.Queries[i]))
	}
	if declared.Namespaces != nil {
		p.Namespaces = c.namespaces("spec.namespaces", declared.Namespaces)
	}
	if roots != nil {
		p.Roots = c.roots("spec.roots", roots)
	}
	if c.interrupted {
		return nil, fmt.Errorf("compile: %w", context.Cause(ctx))
	}
	if len(c.errs) > 0 {
		invalid := &InvalidError{Reason: reasonSpec, Errors: c.errs}
		if text, ok := errors.AsType[*expr.Error](c.errs[0]); ok {
			invalid.Reason = string(text.Reason)
		}
		return nil, invalid
	}
	return p, nil
}

func (c *compiler) query(path string, q *v1alpha1.Query) QueryProgram {
	switch {
	case q.Include != nil && q.Exclude != nil:
		c.addError(path, "has both include and exclude; split it into two queries, the first that matches decides")
	case q.Include == nil && q.Exclude == nil:
		c.addError(path, "has neither include nor exclude; set exactly one of them")
	case q.Exclude != nil:
		selector, err := expr.CompileResource(c.ctx, c.turn, q.Exclude.ResourceSelectorExpression)
		c.check(path+".exclude.resourceSelectorExpression", err)
		return QueryProgram{Resource: selector}
	}
	if q.Include == nil || q.Exclude != nil {
		return QueryProgram{}
	}
	out := QueryProgram{Include: true}
	var err error
	path += ".include"
	out.Resource, err = expr.CompileResource(c.ctx, c.turn, q.Include.ResourceSelectorExpression)
	c.check(path+".resourceSelectorExpression", err)
	if q.Include.Object != nil {
		c.filter(path+".object", q.Include.Object, &out)
	}
	return out
}

// filter compiles the filter of objects of a query into out.
func (c *compiler) filter(path string, of *v1alpha1.ObjectFilter, out *QueryProgram) {
	text, _ := json.Marshal(of) // never fails: strings, and a map of strings, whose keys are sorted
	out.Filter = string(text)
	var err error
	if text := of.LabelSelector; text != "" {
		out.Labels, err = expr.ParseLabelSelector(text)
		c.check(path+".labelSelector", err)
	}
	if text := of.FieldSelector; text != "" {
		if selector, err := expr.ParseFieldSelector(text); c.check(path+".fieldSelector", err) {
			out.Fields = selector.String()
		}
	}
	if text := of.ObjectSelectorExpression; text != "" {
		out.Object, err = expr.CompileObject(c.ctx, c.turn, text)
		c.check(path+".objectSelectorExpression", err)
	}
	if text := of.JSONPath; text != "" {
		parts, err := expr.ParseJSONPath(text)
		if c.check(path+".jsonPath", err) {
			out.Parts = parts
		}
	}
	if len(of.Fields) > 0 {
		out.Parts = c.fields(path, of)
	}
}

func (c *compiler) namespaces(path string, n *v1alpha1.Namespaces) *NamespaceProgram {
	out := &NamespaceProgram{}
	if len(n.Names) > 0 {
		if n.LabelSelector != "" || n.FieldSelector != "" {
			c.addError(path, "names excludes labelSelector and fieldSelector; use objectSelectorExpression to narrow names down")
		}
		if len(n.Names) > maxNames {
			c.addError(path+".names", "must have at most %d names, has %d", maxNames, len(n.Names))
		}
		out.Names = make(map[string]bool, len(n.Names))
		for i, name := range n.Names[:min(len(n.Names), maxNames)] {
			if problems := validation.IsDNS1123Label(string(name)); len(problems) > 0 {
				c.addError(fmt.Sprintf("%s.names[%d]", path, i), "%q is not the name of a namespace: %s", name, problems[0])
			}
			out.Names[string(name)] = true
		}
	}
	if n.LabelSelector != "" {
		if selector, err := expr.ParseLabelSelector(n.LabelSelector); c.check(path+".labelSelector", err) {
			out.Labels = selector.String()
		}
	}
	if n.FieldSelector != "" {
		if selector, err := expr.ParseFieldSelector(n.FieldSelector); c.check(path+".fieldSelector", err) {
			out.Fields = selector.String()
		}
	}
	if n.ObjectSelectorExpression != "" {
		var err error
		out.Object, err = expr.CompileObject(c.ctx, c.turn, n.ObjectSelectorExpression)
		c.check(path+".objectSelectorExpression", err)
	}
	if out.Names == nil && !out.Selective() {
		return nil
	}
	return out
}

// The bounds of the fields of a query, the same as those of the GraphView CRD.
const (
	maxFields    = 32
	maxFieldPath = 1024
)

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,62}$`)

// fields compiles the named parts of objects.
func (c *compiler) fields(path string, o *v1alpha1.ObjectFilter) Parts {
	if o.JSONPath != "" {
		c.addError(path, "has fields and jsonPath, which exclude each other; fields names what jsonPath returns as a list")
	}
	path += ".fields"
	if n := len(o.Fields); n > maxFields {
		c.addError(path, "must have at most %d fields, has %d", maxFields, n)
		return nil
	}
	fields := make([]expr.Field, 0, len(o.Fields))
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		if !fieldName.MatchString(name) {
			c.addError(path, "%s is not a field's name; expected at most 63 letters, digits, '_', '.' and '-', of which the first is a letter or '_'", quoted(name[:min(len(name), 64)]))
			continue
		}
		text := o.Fields[name]
		if len(text) > maxFieldPath {
			c.addError(path+"."+name, "must have at most %d characters", maxFieldPath)
			continue
		}
		field, err := expr.ParseField(name, string(text))
		if c.check(path+"."+name, err) {
			fields = append(fields, field)
		}
	}
	return expr.NewFields(fields)
}
