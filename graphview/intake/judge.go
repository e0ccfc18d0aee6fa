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
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// newInput returns the input for all expressions on an object. If the object cannot be decoded, only
// expressions that read it fail.
func newInput(o *watch.Decoded, r resources.Resource, turn expr.Turn) *expr.Input {
	return &expr.Input{
		Group: r.Group, Version: r.Version, Resource: r.Resource, Kind: r.Kind, Namespace: o.Namespace(), Name: o.Name(), Object: o.Tree, Part: o.PartOrTree, Turn: turn,
	}
}

// Judge decides which objects of one resource are in one view. It is immutable.
type Judge struct {
	Resource resources.Resource
	Query    *spec.QueryProgram
	Roots    []spec.Root
	// Namespaces are the selected namespaces, nil for all.
	Namespaces map[string]bool
	// Waits: the selected namespaces are not known yet, so each verdict is undecided.
	Waits bool
}

// Verdict is the decision of a tap about one object.
type Verdict struct {
	Selection graph.Selection
	// Err is the reason why the object is not selected or not a root. Its text has no value of the
	// object.
	Err error
	// Undecided: there is no decision, so an earlier verdict still holds.
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

// Evaluate decides about one object. It decodes the whole object only if an expression reads it.
func (j *Judge) Evaluate(ctx context.Context, turn expr.Turn, o *watch.Decoded) (v Verdict) {
	in := newInput(o, j.Resource, turn)
	defer func() { v.By, v.Cost = j, in.Cost }()
	if j.Waits && j.Resource.Namespaced {
		return Verdict{Undecided: true}
	}
	if !j.Admits(o.Namespace()) {
		return Verdict{}
	}
	if o.LacksContent() && (j.Query.Labels != nil || j.Query.Object != nil) {
		return Verdict{Err: errNoRoom}
	}
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

// errNoRoom is the reason why nothing is known of an object but its identity.
var errNoRoom = errors.New("kept without content, labels and references: the namespace of the object holds as much memory as it may; " +
	"delete objects of that namespace, or raise the operator's memory limit")

// isRoot evaluates the roots until one matches. If one fails, it evaluates the next ones, too. The
// error is a PartialError, because the object stays selected.
func (j *Judge) isRoot(ctx context.Context, in *expr.Input) (root bool, err error) {
	for i := range j.Roots {
		root := &j.Roots[i]
		if in.Cost > quota.MaxCost {
			return false, &delivery.PartialError{Err: fmt.Errorf("%s and those after it: the view's expressions together cost too much on this object", root.Member())}
		}
		matches, failure := root.Matches(ctx, in)
		if failure != nil && err == nil {
			err = &delivery.PartialError{Err: fmt.Errorf("%s: %w", root.Member(), failure)}
		}
		if failure == nil && matches {
			return true, err
		}
	}
	return false, err
}

// evaluateRelease returns the verdict about a Secret from a watch of Helm releases. If the objects of the
// release are not known and the view selects the Secret, Err has the reason.
func (j *Judge) evaluateRelease(ctx context.Context, turn expr.Turn, o *watch.Decoded) Verdict {
	fault := faultOf(o)
	if fault == nil {
		return Verdict{By: j}
	}
	v := j.Evaluate(ctx, turn, o)
	if v.Selection.Member {
		v.Err = &delivery.PartialError{Err: fault}
	}
	return v
}

// evaluateNamespace decides whether a view selects a Namespace. It does not if the expression fails.
func evaluateNamespace(ctx context.Context, turn expr.Turn, n *spec.NamespaceProgram, o *watch.Decoded) Verdict {
	if n.Names != nil && !n.Names[o.Name()] {
		return Verdict{}
	}
	if n.Object == nil {
		return Verdict{Selection: graph.Selection{Member: true}}
	}
	if o.LacksContent() {
		return Verdict{Err: errNoRoom}
	}
	in := newInput(o, resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}, turn)
	matches, err := n.Object.Matches(ctx, in)
	if err != nil {
		return Verdict{Err: fmt.Errorf("namespaces.objectSelectorExpression: %w", err), Cost: in.Cost}
	}
	return Verdict{Selection: graph.Selection{Member: matches}, Cost: in.Cost}
}

// onlyLabels is the shape of the part that labelsOf reads.
var onlyLabels = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field("metadata").Field("labels").Whole()
	return &shape
}()

// labelsOf returns the labels of an object or part. It leaves out labels that are not strings.
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

// smallPart is the size in bytes up to which a view stores the part that it shows of an object. A
// larger part is found again whenever it is sent.
const smallPart = 128

// partSeed is the seed for hashes of parts. They are comparable within one process only.
var partSeed = maphash.MakeSeed()

// showsParts reports whether the view shows parts of an object. A Secret has no content here, so
// the view shows only named parts of its metadata.
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

// partOf returns the form in which a lens stores a part: its bytes, or a foundPart.
func partOf(parts spec.Parts, found []byte) any {
	if len(found) <= smallPart {
		return append(make([]byte, 0, len(found)), found...)
	}
	return foundPart{parts}
}

// foundPart is a part that is too large to store. It is found again whenever it is sent.
type foundPart struct{ parts spec.Parts }

// AppendJSON implements delivery.Part. It costs as much as finding the part for the verdict.
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

// secretMetadata are the fields of a Secret's metadata that a view may show. Annotations are left out,
// because some repeat the data of the Secret.
var secretMetadata = [...]string{"name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp", "labels", "finalizers", "ownerReferences"}

// secretTree returns the part of a Secret that a view may show.
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
