package expr

import "github.com/google/cel-go/cel"

// ResourceSelector is a compiled expression over what discovery says about a
// resource.
type ResourceSelector struct {
	program *program
}

// CompileResource compiles an expression over group, version, resource
// (strings) and namespaced (bool), which must be a bool. Its error is an
// *Error.
func CompileResource(text string) (*ResourceSelector, error) {
	env, err := resourceEnvironment()
	if err != nil {
		return nil, err
	}
	p, err := compile(env, text, truth)
	if err != nil {
		return nil, err
	}
	return &ResourceSelector{program: p}, nil
}

// Matches evaluates the expression. It takes no context since a cluster has
// some hundred resources and the cost limit holds. Its error is an
// *EvaluationError.
func (s *ResourceSelector) Matches(group, version, resource string, namespaced bool) (bool, error) {
	result, _, err := s.program.conclude(s.program.evaluable.Eval(&resourceVariables{
		group: group, version: version, resource: resource, namespaced: namespaced,
	}))
	if err != nil {
		return false, err
	}
	return isTrue(result)
}

type resourceVariables struct {
	group, version, resource string
	namespaced               bool
}

var _ cel.Activation = (*resourceVariables)(nil)

func (v *resourceVariables) Parent() cel.Activation { return nil }

func (v *resourceVariables) ResolveName(name string) (any, bool) {
	switch name {
	case varGroup:
		return v.group, true
	case varVersion:
		return v.version, true
	case varResource:
		return v.resource, true
	case varNamespaced:
		return v.namespaced, true
	}
	return nil, false
}
