package graphview

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/resources"
)

// The bounds of a Spec, the same as those of the GraphView CRD.
const (
	maxQueries = 64
	maxRoots   = 64
	maxNames   = 1024
)

// reasonSpec is InvalidSpecError's reason where the shape of a spec is wrong,
// which the CRD's own rules refuse before a GraphView gets here.
const reasonSpec = string(expr.InvalidExpression)

// InvalidSpecError says what is wrong with a Spec. It is terminal: nothing
// happens until the spec changes.
type InvalidSpecError struct {
	// Reason is InvalidExpression, InvalidSelector or InvalidJSONPath: that of
	// the first error.
	Reason string
	// Errors are all that were found, in the order of the spec. Each names its
	// field, the place in it, and what was expected.
	Errors []error
}

func (e *InvalidSpecError) Error() string { return strings.Join(e.Texts(), "; ") }

// Texts are the errors, each for itself. Each begins with the path of its field.
func (e *InvalidSpecError) Texts() []string {
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return texts
}

func (e *InvalidSpecError) Unwrap() []error { return e.Errors }

// Program is a compiled Spec. It is immutable and may be shared.
type Program struct {
	spec       Spec
	queries    []query
	namespaces *namespaceProgram // nil: all namespaces
	roots      []*expr.ObjectSelector
}

type query struct {
	include  bool
	resource *expr.ResourceSelector
	filter   ObjectFilter
	labels   labels.Selector // nil: all
	fields   string          // canonical
	object   *expr.ObjectSelector
	path     *expr.JSONPath
	found    *foundPart // of path
}

type namespaceProgram struct {
	names          map[string]bool // nil: any
	labels, fields string
	object         *expr.ObjectSelector
}

// selective tells whether namespaces have to be looked at, and not only named.
func (n *namespaceProgram) selective() bool {
	return n != nil && (n.labels != "" || n.fields != "" || n.object != nil)
}

// unknown tells that nothing was found out about a spec: nobody waited for it.
func unknown(err error) bool {
	_, invalid := errors.AsType[*InvalidSpecError](err)
	return err != nil && !invalid
}

// compiler gathers what is wrong, so that an author sees all of it at once.
type compiler struct {
	ctx  context.Context //nolint:containedctx // that of one call of Compile
	errs []error
	// interrupted: not all was checked.
	interrupted bool
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

func (c *compiler) shape(path, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
}

// Compile checks everything a user wrote. The error is an *InvalidSpecError, or
// the context's, and then nothing is known of the spec.
func Compile(ctx context.Context, spec Spec) (*Program, error) {
	c := &compiler{ctx: ctx}
	p := &Program{spec: spec}
	if n := len(spec.Queries); n < 1 || n > maxQueries {
		c.shape("spec.queries", "must have between 1 and %d queries, has %d", maxQueries, n)
	}
	// What is beyond the bounds is not compiled: that alone could be a lot of work.
	for i := range spec.Queries[:min(len(spec.Queries), maxQueries)] {
		p.queries = append(p.queries, c.query(fmt.Sprintf("spec.queries[%d]", i), &spec.Queries[i]))
	}
	if spec.Namespaces != nil {
		p.namespaces = c.namespaces("spec.namespaces", spec.Namespaces)
	}
	if spec.Roots != nil {
		if n := len(spec.Roots.ObjectSelectorExpressions); n > maxRoots {
			c.shape("spec.roots.objectSelectorExpressions", "must have at most %d expressions, has %d", maxRoots, n)
		}
		for i, text := range spec.Roots.ObjectSelectorExpressions[:min(len(spec.Roots.ObjectSelectorExpressions), maxRoots)] {
			selector, err := expr.CompileObject(c.ctx, text)
			if c.check(fmt.Sprintf("spec.roots.objectSelectorExpressions[%d]", i), err) {
				p.roots = append(p.roots, selector)
			}
		}
	}
	if c.interrupted {
		return nil, fmt.Errorf("compile: %w", context.Cause(ctx))
	}
	if len(c.errs) > 0 {
		invalid := &InvalidSpecError{Reason: reasonSpec, Errors: c.errs}
		if text, ok := errors.AsType[*expr.Error](c.errs[0]); ok {
			invalid.Reason = string(text.Reason)
		}
		return nil, invalid
	}
	return p, nil
}

func (c *compiler) query(path string, q *Query) query {
	switch {
	case q.Include != nil && q.Exclude != nil:
		c.shape(path, "has both include and exclude; split it into two queries, the first that matches decides")
	case q.Include == nil && q.Exclude == nil:
		c.shape(path, "has neither include nor exclude; set exactly one of them")
	case q.Exclude != nil:
		selector, err := expr.CompileResource(c.ctx, q.Exclude.ResourceSelectorExpression)
		c.check(path+".exclude.resourceSelectorExpression", err)
		return query{resource: selector}
	}
	if q.Include == nil || q.Exclude != nil {
		return query{}
	}
	out := query{include: true, filter: q.Include.Object}
	var err error
	path += ".include"
	out.resource, err = expr.CompileResource(c.ctx, q.Include.ResourceSelectorExpression)
	c.check(path+".resourceSelectorExpression", err)
	path += ".object"
	if text := q.Include.Object.LabelSelector; text != "" {
		out.labels, err = expr.ParseLabelSelector(text)
		c.check(path+".labelSelector", err)
	}
	if text := q.Include.Object.FieldSelector; text != "" {
		if selector, err := expr.ParseFieldSelector(text); c.check(path+".fieldSelector", err) {
			out.fields = selector.String()
		}
	}
	if text := q.Include.Object.ObjectSelectorExpression; text != "" {
		out.object, err = expr.CompileObject(c.ctx, text)
		c.check(path+".objectSelectorExpression", err)
	}
	if text := q.Include.Object.JSONPath; text != "" {
		out.path, err = expr.ParseJSONPath(text)
		out.found = &foundPart{out.path}
		c.check(path+".jsonPath", err)
	}
	return out
}

func (c *compiler) namespaces(path string, n *Namespaces) *namespaceProgram {
	out := &namespaceProgram{}
	if len(n.Names) > 0 {
		if n.LabelSelector != "" || n.FieldSelector != "" {
			c.shape(path, "names excludes labelSelector and fieldSelector; use objectSelectorExpression to narrow names down")
		}
		if len(n.Names) > maxNames {
			c.shape(path+".names", "must have at most %d names, has %d", maxNames, len(n.Names))
		}
		out.names = make(map[string]bool, len(n.Names))
		for i, name := range n.Names[:min(len(n.Names), maxNames)] {
			if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
				c.shape(fmt.Sprintf("%s.names[%d]", path, i), "%q is not the name of a namespace: %s", name, problems[0])
			}
			out.names[name] = true
		}
	}
	if n.LabelSelector != "" {
		if selector, err := expr.ParseLabelSelector(n.LabelSelector); c.check(path+".labelSelector", err) {
			out.labels = selector.String()
		}
	}
	if n.FieldSelector != "" {
		if selector, err := expr.ParseFieldSelector(n.FieldSelector); c.check(path+".fieldSelector", err) {
			out.fields = selector.String()
		}
	}
	if n.ObjectSelectorExpression != "" {
		var err error
		out.object, err = expr.CompileObject(c.ctx, n.ObjectSelectorExpression)
		c.check(path+".objectSelectorExpression", err)
	}
	if out.names == nil && !out.selective() {
		return nil
	}
	return out
}

// selectFrom applies the queries to what the cluster serves. It charges what each
// evaluation costs, in CEL's units, and ends where that is no longer granted.
func (p *Program) selectFrom(ctx context.Context, catalog *resources.Catalog, charge func(cost uint64) bool) (chosen []resources.Selected, errs []error) {
	granted := true
	return resources.Select(catalog, func(r resources.Resource) (_ int, _, _ bool, err error) {
		defer panics.Recover(&err)
		for i := range p.queries {
			if !granted || ctx.Err() != nil {
				return 0, false, false, nil
			}
			matches, cost, err := p.queries[i].resource.Matches(ctx, expr.Resource(r))
			granted = charge(cost)
			if err != nil {
				return 0, false, false, fmt.Errorf("spec.queries[%d]: %w", i, err)
			}
			if matches {
				return i, p.queries[i].include, true, nil
			}
		}
		return 0, false, false, nil
	})
}

// rooted tells whether only what roots reach is visible.
func (p *Program) rooted() bool { return len(p.roots) > 0 }

// walk is the way from the roots to what is visible.
func (p *Program) walk() graph.Walk {
	switch r := p.spec.Roots; {
	case r == nil:
		return graph.Walk{}
	case r.Follow == nil:
		return graph.Walk{Against: r.IgnoreArcDirection}
	default:
		return graph.Walk{Direction: r.Follow.Direction, Depth: r.Follow.Depth, Types: r.Follow.Types}
	}
}
