package oracle

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// outside knows the objects in a view's scope that are not in its graph.
type outside struct {
	namespaces *selectedNamespaces
	// others are the objects that expressions exclude.
	others map[VertexKey]types.UID
}

// mark sets Outside of each arc with a missing target: whether the target exists outside of the
// view, or is beyond the view's scope.
func (o outside) mark(arcs map[ArcKey]Attributes, watched []resource, objects []object) {
	owners := map[ArcKey]types.UID{}
	for i := range objects {
		for _, owner := range (&unstructured.Unstructured{Object: objects[i].tree}).GetOwnerReferences() {
			owners[ArcKey{From: objects[i].key, To: VertexKey{Name: owner.Name}, Type: owner.Kind}] = owner.UID
		}
	}
	for key, attributes := range arcs {
		for _, r := range watched {
			if !attributes.Missing || r.Group != key.To.Group || r.Resource != key.To.Resource {
				continue
			}
			attributes.Outside = o.where(r, key.To)
			if attributes.Outside == "outside" && key.Type == "or" && owners[ArcKey{From: key.From, To: VertexKey{Name: key.To.Name}, Type: r.kind}] != o.others[key.To] {
				attributes.Outside = "" // another object of that name
			}
			arcs[key] = attributes
		}
	}
}

// where returns where a missing object is: "outside" of the view, "unknown"
// if it is beyond the view's scope, or "" if it does not exist.
func (o outside) where(r resource, key VertexKey) string {
	if r.filter.LabelSelector != "" || r.filter.FieldSelector != "" || r.namespaced && key.Namespace != "" && !o.namespaces.contain(key.Namespace) {
		return "unknown"
	}
	if _, exists := o.others[key]; exists {
		return "outside"
	}
	return ""
}
