package expr

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"

	"graphview.dev/graphview/jsontree"
)

// ObjectSelector is a compiled expression over one object: an object selector,
// a root expression or a namespace expression.
type ObjectSelector struct {
	program *program
}

// CompileObject compiles an expression over obj (dyn), group, version,
// resource, kind, namespace, name (strings), labels and annotations (maps of
// strings). The expression must be a bool, or of a type known only at run
// time. The error is an *Error, or wraps that of ctx.
func CompileObject(ctx context.Context, turn Turn, text string) (*ObjectSelector, error) {
	p, err := compile(ctx, turn, objectEnvironment, text, truth)
	if err != nil {
		return nil, err
	}
	return &ObjectSelector{program: p}, nil
}

// Input is one object as expressions see it. It belongs to one goroutine.
type Input struct {
	Group, Version, Resource, Kind, Namespace, Name string

	// Object returns the decoded object: obj, and in its metadata labels and
	// annotations. An evaluation calls it at most once, only if it needs the object,
	// and does not modify the object. A nil Object stands for an empty object. An
	// error fails only the evaluation that called it.
	Object func() (map[string]any, error)

	// Part returns the parts of the object that a shape asks for, for paths, labels and annotations, which are a small part of
	// it. Nil: they are read from the Object.
	Part func(shape *jsontree.Shape) (map[string]any, error)

	// Turn is the turn for which evaluations wait once they are costly.
	Turn Turn

	// Cost is the sum of the costs of all evaluations on this input, also of failed
	// ones, in units. Callers charge it to a budget.
	Cost uint64
}

// Matches evaluates the expression. The error is an *EvaluationError, or wraps
// that of ctx, of in.Turn or of in.Object.
func (s *ObjectSelector) Matches(ctx context.Context, in *Input) (bool, error) {
	result, err := s.program.on(ctx, in)
	if err != nil {
		return false, err
	}
	return isTrue(result)
}

// on evaluates the expression on an object, and adds the cost to the input.
func (p *program) on(ctx context.Context, in *Input) (ref.Val, error) {
	variables := objectVariablesPool.Get().(*objectVariables) //nolint:forcetypeassert // all that is put there
	variables.input = in
	variables.meter.begin(ctx, in.Turn)
	result, err := p.eval(&variables.meter, variables)
	in.Cost += variables.meter.end()
	if variables.err != nil {
		err = fmt.Errorf("read the object: %w", variables.err)
	}
	*variables = objectVariables{}
	objectVariablesPool.Put(variables)
	return result, err
}

var objectVariablesPool = sync.Pool{New: func() any { return new(objectVariables) }}

// objectVariables resolves variables when CEL first needs them: most
// expressions need few of them.
type objectVariables struct {
	input  *Input
	object map[string]any
	marks  map[string]any // the part of the object that has labels and annotations
	err    error          // of reading the object
	meter  meter
}

var _ cel.Activation = (*objectVariables)(nil)

func (v *objectVariables) Parent() cel.Activation { return nil }

func (v *objectVariables) ResolveName(name string) (any, bool) {
	switch name {
	case varObject:
		return v.get(), true
	case varGroup:
		return v.input.Group, true
	case varVersion:
		return v.input.Version, true
	case varResource:
		return v.input.Resource, true
	case varKind:
		return v.input.Kind, true
	case standInNamespace:
		return v.input.Namespace, true
	case varName:
		return v.input.Name, true
	case varLabels, varAnnotations:
		return v.metadata(name), true
	case varMeter:
		return &v.meter, true
	}
	return nil, false
}

// object returns the result of Object, or an empty map if there is none.
func (in *Input) object() (map[string]any, error) {
	if in.Object == nil {
		return emptyMap, nil
	}
	object, err := in.Object()
	if object == nil {
		object = emptyMap
	}
	return object, err
}

var marksShape = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field("metadata", varLabels).Whole()
	shape.Field("metadata", varAnnotations).Whole()
	return &shape
}()

// part returns the result of Part, or the whole object without a Part.
func (in *Input) part(shape *jsontree.Shape) (map[string]any, error) {
	if in.Part == nil {
		return in.object()
	}
	object, err := in.Part(shape)
	if object == nil {
		object = emptyMap
	}
	return object, err
}

var emptyMap = map[string]any{}

func (v *objectVariables) get() map[string]any {
	if v.object == nil {
		v.object, v.err = v.input.object()
	}
	return v.object
}

// metadata returns the labels or annotations, or an empty map if there are none.
func (v *objectVariables) metadata(field string) map[string]any {
	object := v.object
	switch {
	case object != nil:
	case v.input.Part == nil:
		object = v.get()
	default:
		if v.marks == nil {
			v.marks, v.err = v.input.part(marksShape)
		}
		object = v.marks
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		if m, ok := metadata[field].(map[string]any); ok {
			return m
		}
	}
	return emptyMap
}

// ResourceSelector is a compiled expression over one resource of the discovery.
type ResourceSelector struct {
	program *program
}

// CompileResource compiles an expression over group, version, resource, kind
// (strings) and namespaced (bool). The expression must be a bool. The error is
// an *Error, or wraps that of ctx.
func CompileResource(ctx context.Context, turn Turn, text string) (*ResourceSelector, error) {
	p, err := compile(ctx, turn, resourceEnvironment, text, truth)
	if err != nil {
		return nil, err
	}
	return &ResourceSelector{program: p}, nil
}

// Resource is one resource as expressions see it.
type Resource struct {
	Group, Version, Resource, Kind string

	Namespaced bool
}

// Matches evaluates the expression, and returns the cost in units, also with an
// error. The error is an *EvaluationError, or wraps that of ctx.
func (s *ResourceSelector) Matches(ctx context.Context, r Resource) (matches bool, cost uint64, err error) {
	m := &meter{}
	m.begin(ctx, nil)
	result, err := s.program.eval(m, map[string]any{
		varGroup: r.Group, varVersion: r.Version, varResource: r.Resource, varKind: r.Kind, varNamespaced: r.Namespaced, varMeter: m,
	})
	cost = m.end()
	if err != nil {
		return false, cost, err
	}
	matches, err = isTrue(result)
	return matches, cost, err
}
