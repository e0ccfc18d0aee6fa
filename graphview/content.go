package graphview

import (
	"fmt"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
)

// smallPart is how many bytes of what a jsonPath finds are kept for each object and
// view. More is found again when it is sent.
const smallPart = 128

// foundPart is what a jsonPath finds in the objects of a query. It is the same for all.
type foundPart struct{ path *expr.JSONPath }

// AppendJSON implements delivery.Part. It takes as many steps as the path did when
// the object was judged.
func (p foundPart) AppendJSON(dst []byte, o delivery.Object) ([]byte, error) {
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	found, err := p.path.FindIn(tree)
	if err != nil {
		return nil, fmt.Errorf("jsonPath: %w", err)
	}
	return append(dst, found...), nil
}

// partOf is what a lens keeps of what a path found in an object.
func partOf(path *expr.JSONPath, found []byte) any {
	if len(found) <= smallPart {
		return append(make([]byte, 0, len(found)), found...)
	}
	return foundPart{path}
}
