package oracle

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// outside is what there is around a view's graph, as far as the view looks there.
type outside struct {
	namespaces *selectedNamespaces
	// others are the objects that expressions leave out.
	others map[VertexKey]types.UID
}

// mark says of each arc that leads to what is not in the graph whether there is such an
// object outside the view, or whether the view does not look there.
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
			uid, exists := o.others[key.To]
			if key.Type == "or" && owners[ArcKey{From: key.From, To: VertexKey{Name: key.To.Name}, Type: r.kind}] != uid {
				exists = false // another object of that name
			}
			switch {
			case r.filter.LabelSelector != "" || r.filter.FieldSelector != "" || r.namespaced && key.To.Namespace != "" && !o.namespaces.contain(key.To.Namespace):
				attributes.Outside = "unknown"
			case exists:
				attributes.Outside = "outside"
			}
			arcs[key] = attributes
		}
	}
}
