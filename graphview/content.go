package graphview

import (
	"fmt"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
)

// smallPart is how many bytes of what a view selects of an object are kept for each object and
// view. More is found again when it is sent.
const smallPart = 128

// foundPart is what a query finds in its objects. It is the same for all.
type foundPart struct{ parts spec.Parts }

// AppendJSON implements delivery.Part. It takes as many steps as it did when
// the object was judged.
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

// secretMetadata are the metadata of a Secret that fields may show. Annotations are not
// among them: some repeat what is in the Secret.
var secretMetadata = [...]string{"name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp", "labels", "finalizers", "ownerReferences"}

// secretTree is what fields see of a Secret, of which there is only the metadata.
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

// partOf is what a lens keeps of what was found in an object.
func partOf(parts spec.Parts, found []byte) any {
	if len(found) <= smallPart {
		return append(make([]byte, 0, len(found)), found...)
	}
	return foundPart{parts}
}
