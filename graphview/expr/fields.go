package expr

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/util/jsonpath"

	"graphview.dev/graphview/jsontree"
)

// Field is a JSONPath with a name.
type Field struct {
	name string
	path *jsonpath.ListNode
	// many: the path may find several nodes, so that its value is a list.
	many bool
}

// ParseField parses one path, with or without braces and the first dot. The error is an *Error.
func ParseField(name, text string) (Field, error) {
	parsed, err := ParseJSONPath(text)
	if err != nil {
		return Field{}, err
	}
	if len(parsed.actions) != 1 || parsed.actions[0].each {
		return Field{}, jsonPathError(text, errors.New("a field is one path such as {.status.phase}; give each path a name of its own"))
	}
	f := Field{name: name, path: parsed.actions[0].path}
	for _, node := range f.path.Nodes {
		f.many = f.many || !single(node)
	}
	return f, nil
}

// single reports whether a node finds at most one value in each value.
func single(node jsonpath.Node) bool {
	switch node := node.(type) {
	case *jsonpath.FieldNode:
		return true
	case *jsonpath.ArrayNode:
		return node.Params[1].Derived
	}
	return false
}

// Fields find the named parts of an object.
type Fields struct {
	fields []Field
	shape  *jsontree.Shape // the parts of an object that the paths read
}

// NewFields returns Fields. Their names must be unique.
func NewFields(fields []Field) *Fields {
	p := &Fields{fields: fields, shape: new(jsontree.Shape)}
	for i := range fields {
		read(p.shape, fields[i].path)
	}
	return p
}

// Find returns a JSON object with a member for each path that finds something: a list if the path may
// find several nodes, otherwise the node. All paths together have the limits of one JSONPath. Find adds
// its cost to the input. The error is an *EvaluationError, or wraps that of ctx or of in.Object.
func (p *Fields) Find(ctx context.Context, in *Input) ([]byte, error) {
	return findIn(ctx, in, "fields", p.shape, p.find)
}

// FindIn is Find for an object whose cost the caller has already charged.
func (p *Fields) FindIn(object map[string]any) ([]byte, error) {
	return findWhole(p.find, object)
}

func (p *Fields) find(object map[string]any, whole func() (map[string]any, error)) (text []byte, steps int, err error) {
	f, found, nodes := &finder{}, make(map[string]any, len(p.fields)), 0
	for i := range p.fields {
		field := &p.fields[i]
		values, err := f.walk([]any{object}, field.path)
		if nodes += len(values); err == nil && nodes > maxPathNodes {
			err = &EvaluationError{Message: fmt.Sprintf("JSONPath finds too many nodes; at most %d are allowed", maxPathNodes)}
		}
		if err != nil {
			return nil, f.steps, fieldError(field.name, err)
		}
		switch {
		case len(values) == 0:
		case field.many:
			found[field.name] = values
		default:
			found[field.name] = values[0]
		}
	}
	text, err = encode(found, whole)
	return text, f.steps + len(text)/bytesRead, err
}

// fieldError adds the name of the field to the message of an *EvaluationError.
func fieldError(name string, err error) error {
	if e, ok := errors.AsType[*EvaluationError](err); ok {
		return &EvaluationError{Message: name + ": " + e.Message}
	}
	return err
}
