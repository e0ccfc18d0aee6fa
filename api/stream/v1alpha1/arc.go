package v1alpha1

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/api/v1alpha1"
)

// ArcType is the type of a reference.
type ArcType = v1alpha1.ArcType

// Outside says why the destination of a reference is not in the graph, although it may exist: outside,
// it exists and the view does not select it; unknown, the view does not watch its kind or namespace.
//
// +kubebuilder:validation:Enum=outside;unknown
type Outside string

// Arc is a reference from one object to another. s, d and t identify it.
type Arc struct {
	// s is the source.
	From Key `json:"s"`
	// d is the destination.
	To Key `json:"d"`
	// t is the type: or, to an owner; r, to an object that the source uses or selects; t, to an object
	// that the source names for others to use.
	Type v1alpha1.ArcType `json:"t"`
	// a has more properties. An arc that is deleted has none.
	Attributes Attributes `json:"a,omitzero"`
}

// Key returns the identity of the arc.
func (a *Arc) Key() ArcKey { return ArcKey{From: a.From, To: a.To, Type: a.Type} }

// ArcKey identifies an arc: between two vertices there is one of each type.
type ArcKey struct {
	// s is the source.
	From Key `json:"s"`
	// d is the destination.
	To Key `json:"d"`
	// t is the type.
	Type v1alpha1.ArcType `json:"t"`
}

// Compare orders keys by source, type and destination.
func (k ArcKey) Compare(other ArcKey) int {
	return cmp.Or(k.From.Compare(other.From), cmp.Compare(k.Type, other.Type), k.To.Compare(other.To))
}

// Attributes are the properties of an arc beside its identity. A property that is false or empty is
// absent.
type Attributes struct {
	// c reports whether the owner is the controller.
	Controller bool `json:"c,omitempty"`
	// b reports whether the owner's deletion waits for the source's.
	BlockOwnerDeletion bool `json:"b,omitempty"`
	// e reports whether the destination is not in the graph: it does not exist, or x says more.
	Missing bool `json:"e,omitempty"`
	// x, with e, says why the destination is not in the graph although it may exist. outside: it exists,
	// and the view does not select it. unknown: the view does not watch its kind or namespace.
	Outside Outside `json:"x,omitempty"`
	// o reports whether the reference is optional: the object works without the destination.
	Optional bool `json:"o,omitempty"`
	// f has the paths of the fields that made the arc, without indices, at most four. The path of an
	// inferred reference begins with inferred/.
	Fields []string `json:"f,omitempty"`
	// w has words for the fields, such as mounts or selects, which read from the source to the
	// destination. An owner reference has none.
	Words []string `json:"w,omitempty"`
}

// Absent reports whether the destination does not exist although it is required. The status of
// a GraphView counts such arcs that are direct references.
func (a Attributes) Absent() bool { return a.Missing && a.Outside == "" && !a.Optional }

// InferredPrefix is the prefix of the fields of inferred references.
const InferredPrefix = "inferred/"

// Inferred reports whether only inferred references made the arc.
func (a Attributes) Inferred() bool {
	return len(a.Fields) > 0 && !slices.ContainsFunc(a.Fields, func(field string) bool { return !strings.HasPrefix(field, InferredPrefix) })
}
