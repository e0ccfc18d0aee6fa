package graphview

import (
	"context"
	"fmt"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/labels"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/work"
)

// newInput returns the input for all expressions about an object. One that fails to
// read the object has an error; one that does not read it is evaluated all the same.
func newInput(o *watch.Decoded, r resources.Resource) *expr.Input {
	return &expr.Input{
		Group: r.Group, Version: r.Version, Resource: r.Resource, Kind: r.Kind, Namespace: o.Namespace(), Name: o.Name(), Object: o.Tree,
	}
}

// judge is what one view decides about the objects of one resource. It is
// immutable and runs in the goroutines of watches.
type judge struct {
	resource resources.Resource
	query    *spec.QueryProgram
	roots    []spec.Root
	// namespaces are those that the view selects; nil for all.
	namespaces map[string]bool
	// waits: which these are is not known yet, so nothing is decided.
	waits bool
}

// verdict is what was decided about one object. A non-nil err says why an object is not
// selected, or not examined as a root; it holds no value of the object.
type verdict struct {
	selection graph.Selection
	err       error
	// undecided: an earlier verdict holds.
	undecided bool
	// postponed: the evaluation costs more than the watch has time for, so the view's
	// backlog has to make it.
	postponed bool
	// by is the judge that has decided, nil for none.
	by *judge
	// cost is that of the expressions, in CEL's units.
	cost uint64
}

// admits tells whether the view selects the namespace.
func (j *judge) admits(namespace string) bool {
	return j.namespaces == nil || !j.resource.Namespaced || j.namespaces[namespace]
}

// evaluates tells whether there is anything that takes more than a look.
func (j *judge) evaluates() bool {
	return j.query.Object != nil || j.query.Parts != nil || len(j.roots) > 0
}

// evaluate decides about one object. It builds the object's tree only where an
// expression asks for it.
func (j *judge) evaluate(ctx context.Context, o *watch.Decoded) (v verdict) {
	if j.waits && j.resource.Namespaced {
		return verdict{undecided: true}
	}
	if !j.admits(o.Namespace()) {
		return verdict{}
	}
	in := newInput(o, j.resource)
	defer func() { v.cost = in.Cost }()
	if j.query.Labels != nil {
		part, err := o.Part(onlyLabels)
		if err != nil {
			return verdict{err: err}
		}
		if !j.query.Labels.Matches(labels.Set(labelsOf(part))) {
			return verdict{}
		}
	}
	if j.query.Object != nil {
		matches, err := j.query.Object.Matches(ctx, in)
		if err != nil {
			return verdict{err: fmt.Errorf("objectSelectorExpression: %w", err)}
		}
		if !matches {
			return verdict{}
		}
	}
	v = verdict{selection: graph.Selection{Member: true}}
	if j.showsParts(o) {
		part, err := j.findParts(ctx, in, o)
		if err != nil {
			return verdict{err: fmt.Errorf("%s: %w", spec.Member(j.query.Parts), err)}
		}
		v.selection.Part, v.selection.Hash = partOf(j.query.Parts, part), maphash.Bytes(contentSeed, part)
	}
	for i := range j.roots {
		root := &j.roots[i]
		if in.Cost > work.MaxCost {
			v.err = &delivery.PartialError{Err: fmt.Errorf("%s and those after it: the view's expressions together cost too much on this object", root.Place())}
			break
		}
		matches, err := root.Matches(ctx, in)
		if err != nil {
			// The next one is tried; the object stays.
			if v.err == nil {
				v.err = &delivery.PartialError{Err: fmt.Errorf("%s: %w", root.Place(), err)}
			}
			continue
		}
		if matches {
			v.selection.Root = true
			break
		}
	}
	return v
}

// showsParts tells whether the view shows parts of an object. Of a Secret it shows those
// that have names, and nothing else.
func (j *judge) showsParts(o *watch.Decoded) bool {
	return j.query.Parts != nil && (o.HasContent() || spec.Named(j.query.Parts))
}

func (j *judge) findParts(ctx context.Context, in *expr.Input, o *watch.Decoded) ([]byte, error) {
	if o.HasContent() {
		return j.query.Parts.Find(ctx, in)
	}
	metadata := &expr.Input{Object: func() (map[string]any, error) {
		object, err := in.Object()
		return secretTree(object), err
	}}
	part, err := j.query.Parts.Find(ctx, metadata)
	in.Cost += metadata.Cost
	return part, err
}

var contentSeed = maphash.MakeSeed()

// onlyLabels are the parts of an object that labelsOf looks at.
var onlyLabels = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field("metadata").Field("labels").Whole()
	return &shape
}()

// labelsOf returns the labels of an object, or of the parts of it that have
// them.
func labelsOf(object map[string]any) map[string]string {
	metadata, _ := object["metadata"].(map[string]any)
	raw, _ := metadata["labels"].(map[string]any)
	if len(raw) == 0 {
		return nil
	}
	set := make(map[string]string, len(raw))
	for k, v := range raw {
		if s, ok := v.(string); ok {
			set[k] = s
		}
	}
	return set
}
