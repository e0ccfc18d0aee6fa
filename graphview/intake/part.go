package intake

import (
	"context"
	"fmt"
	"hash/maphash"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

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
