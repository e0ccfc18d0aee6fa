package expr

import (
	"context"

	"github.com/google/cel-go/cel"
)

// ResourceSelector is a compiled expression over what discovery says about a
// resource.
type ResourceSelector struct {
	program *program
}

// CompileResource compiles an expression over group, version, resource,
// kind (strings) and namespaced (bool), which must be a bool. Its error is an
// *Error, or wraps the context's.
func CompileResource(ctx context.Context, text string) (*ResourceSelector, error) {
	env, err := resourceEnvironment()
	if err != nil {
		return nil, err
	}
	p, err := compile(ctx, env, text, truth)
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

// Matches evaluates the expression, and says what that cost, also where it
// failed, in units. Its error is an *EvaluationError, or wraps the
// context's.
func (s *ResourceSelector) Matches(ctx context.Context, r Resource) (matches bool, cost uint64, err error) {
	variables := &resourceVariables{resource: r}
	variables.meter.begin(ctx)
	result, err := s.program.eval(&variables.meter, variables)
	cost = variables.meter.end()
	if err != nil {
		return false, cost, err
	}
	matches, err = isTrue(result)
	return matches, cost, err
}

type resourceVariables struct {
	resource Resource
	meter    meter
}

var _ cel.Activation = (*resourceVariables)(nil)

func (v *resourceVariables) Parent() cel.Activation { return nil }

func (v *resourceVariables) ResolveName(name string) (any, bool) {
	switch name {
	case varGroup:
		return v.resource.Group, true
	case varVersion:
		return v.resource.Version, true
	case varResource:
		return v.resource.Resource, true
	case varKind:
		return v.resource.Kind, true
	case varNamespaced:
		return v.resource.Namespaced, true
	case varMeter:
		return &v.meter, true
	}
	return nil, false
}
