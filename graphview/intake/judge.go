package intake

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/labels"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// newInput returns the input for all expressions about an object. An object that cannot be decoded
// is an error only of expressions that read it.
func newInput(o *watch.Decoded, r resources.Resource) *expr.Input {
	return &expr.Input{
		Group: r.Group, Version: r.Version, Resource: r.Resource, Kind: r.Kind, Namespace: o.Namespace(), Name: o.Name(), Object: o.Tree,
	}
}

// Judge decides about the objects of one resource for one view. It is immutable.
type Judge struct {
	Resource resources.Resource
	Query    *spec.QueryProgram
	Roots    []spec.Root
	// Namespaces are the selected ones; nil for all.
	Namespaces map[string]bool
	// Waits: the selected namespaces are not known yet, so each verdict is undecided.
	Waits bool
}

// Verdict is the decision about one object.
type Verdict struct {
	Selection graph.Selection
	// Err is the reason for which the object is not selected, or not a root. It has no value of the
	// object.
	Err error
	// Undecided: an earlier verdict holds.
	Undecided bool
	// By is the judge that decided, nil for none.
	By *Judge
	// Cost is the cost of the expressions, in CEL's units.
	Cost uint64
}

// Admits reports whether the view selects the namespace.
func (j *Judge) Admits(namespace string) bool {
	return j.Namespaces == nil || !j.Resource.Namespaced || j.Namespaces[namespace]
}

// anywhere reports whether the judge may admit objects of every namespace.
func (j *Judge) anywhere() bool { return j.Waits || j.Namespaces == nil || !j.Resource.Namespaced }

// evaluates reports whether a verdict evaluates expressions or paths.
func (j *Judge) evaluates() bool {
	return j.Query.Object != nil || j.Query.Parts != nil || len(j.Roots) > 0
}

// Evaluate decides about one object. It builds the tree of the object only for an expression that
// reads it.
func (j *Judge) Evaluate(ctx context.Context, o *watch.Decoded) Verdict {
	v := j.evaluate(ctx, o)
	v.By = j
	return v
}

func (j *Judge) evaluate(ctx context.Context, o *watch.Decoded) (v Verdict) {
	if j.Waits && j.Resource.Namespaced {
		return Verdict{Undecided: true}
	}
	if !j.Admits(o.Namespace()) {
		return Verdict{}
	}
	in := newInput(o, j.Resource)
	defer func() { v.Cost = in.Cost }()
	if j.Query.Labels != nil {
		part, err := o.Part(onlyLabels)
		if err != nil {
			return Verdict{Err: err}
		}
		if !j.Query.Labels.Matches(labels.Set(labelsOf(part))) {
			return Verdict{}
		}
	}
	if j.Query.Object != nil {
		matches, err := j.Query.Object.Matches(ctx, in)
		if err != nil {
			return Verdict{Err: fmt.Errorf("objectSelectorExpression: %w", err)}
		}
		if !matches {
			return Verdict{}
		}
	}
	v = Verdict{Selection: graph.Selection{Member: true}}
	if j.showsParts(o) {
		part, err := j.findParts(ctx, in, o)
		if err != nil {
			return Verdict{Err: fmt.Errorf("%s: %w", spec.Member(j.Query.Parts), err)}
		}
		v.Selection.Part, v.Selection.Hash = partOf(j.Query.Parts, part), maphash.Bytes(partSeed, part)
	}
	v.Selection.Root, v.Err = j.isRoot(ctx, in)
	return v
}

// isRoot evaluates the roots until one matches. A root that fails does not stop the next one, and
// the object stays selected: the error is a PartialError.
func (j *Judge) isRoot(ctx context.Context, in *expr.Input) (root bool, err error) {
	for i := range j.Roots {
		root := &j.Roots[i]
		if in.Cost > quota.MaxCost {
			return false, &delivery.PartialError{Err: fmt.Errorf("%s and those after it: the view's expressions together cost too much on this object", root.Place())}
		}
		matches, failure := root.Matches(ctx, in)
		if failure != nil && err == nil {
			err = &delivery.PartialError{Err: fmt.Errorf("%s: %w", root.Place(), failure)}
		}
		if failure == nil && matches {
			return true, err
		}
	}
	return false, err
}

// evaluateRelease returns a verdict about a Secret from a watch of Helm releases. Its error is the
// fault of a release that could not be unpacked, if the view selects the Secret.
func (j *Judge) evaluateRelease(ctx context.Context, o *watch.Decoded) Verdict {
	tree, err := o.Tree()
	if err != nil {
		return Verdict{Err: err, By: j}
	}
	fault := helm.Fault(tree["reduced"])
	if fault == "" {
		return Verdict{By: j}
	}
	v := j.Evaluate(ctx, o)
	if v.Selection.Member {
		v.Err = &delivery.PartialError{Err: errors.New(fault)}
	}
	return v
}

// evaluateNamespace decides whether a view selects a Namespace. It leaves out a Namespace for which
// the expression fails.
func evaluateNamespace(ctx context.Context, n *spec.NamespaceProgram, o *watch.Decoded) Verdict {
	if n.Names != nil && !n.Names[o.Name()] {
		return Verdict{}
	}
	if n.Object == nil {
		return Verdict{Selection: graph.Selection{Member: true}}
	}
	in := newInput(o, resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"})
	matches, err := n.Object.Matches(ctx, in)
	if err != nil {
		return Verdict{Err: fmt.Errorf("namespaces.objectSelectorExpression: %w", err), Cost: in.Cost}
	}
	return Verdict{Selection: graph.Selection{Member: matches}, Cost: in.Cost}
}

// onlyLabels is the shape that labelsOf reads.
var onlyLabels = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field("metadata").Field("labels").Whole()
	return &shape
}()

// labelsOf returns the labels of an object, or of a part of it that has them.
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

// smallPart is the largest part of an object that is kept for each object and view, in bytes. A
// larger part is found again when it is sent.
const smallPart = 128

// partSeed makes hashes of parts of this process.
var partSeed = maphash.MakeSeed()

// showsParts reports whether the view shows parts of an object. It shows only named parts of a
// Secret, which has no content here.
func (j *Judge) showsParts(o *watch.Decoded) bool {
	return j.Query.Parts != nil && (o.HasContent() || spec.Named(j.Query.Parts))
}

func (j *Judge) findParts(ctx context.Context, in *expr.Input, o *watch.Decoded) ([]byte, error) {
	if o.HasContent() {
		return j.Query.Parts.Find(ctx, in)
	}
	metadata := &expr.Input{Object: func() (map[string]any, error) {
		object, err := in.Object()
		return secretTree(object), err
	}}
	part, err := j.Query.Parts.Find(ctx, metadata)
	in.Cost += metadata.Cost
	return part, err
}

// partOf returns the form of a part that a lens keeps: its bytes, or a way to find it again.
func partOf(parts spec.Parts, found []byte) any {
	if len(found) <= smallPart {
		return append(make([]byte, 0, len(found)), found...)
	}
	return foundPart{parts}
}

// foundPart finds the parts of a query again in any object.
type foundPart struct{ parts spec.Parts }

// AppendJSON implements delivery.Part. It takes as many steps as the verdict about the object.
func (p foundPart) AppendJSON(dst []byte, o delivery.Object) ([]byte, error) {
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	if !o.HasContent() {
		tree = secretTree(tree)
	}
	found, err := p.parts.FindIn(tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Member(p.parts), err)
	}
	return append(dst, found...), nil
}

// secretMetadata are the metadata of a Secret that fields may show. Annotations are left out,
// because some repeat the data of the Secret.
var secretMetadata = [...]string{"name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp", "labels", "finalizers", "ownerReferences"}

// secretTree returns the part of a Secret that fields can read.
func secretTree(tree map[string]any) map[string]any {
	all, _ := tree["metadata"].(map[string]any)
	shown := make(map[string]any, len(secretMetadata))
	for _, key := range secretMetadata {
		if value, ok := all[key]; ok {
			shown[key] = value
		}
	}
	return map[string]any{"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": shown}
}
