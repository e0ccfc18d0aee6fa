package client

import (
	"cmp"
	"strings"
)

// Key identifies a vertex. Group is "" for Kubernetes' core, Namespace for what
// is cluster-scoped.
type Key struct {
	Group     string `json:"g"`
	Version   string `json:"v"`
	Resource  string `json:"r"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
}

// String is resource.group/name, or resource.group/namespace/name.
func (k Key) String() string {
	var b strings.Builder
	b.WriteString(k.Resource)
	if k.Group != "" {
		b.WriteString("." + k.Group)
	}
	if k.Namespace != "" {
		b.WriteString("/" + k.Namespace)
	}
	b.WriteString("/" + k.Name)
	return b.String()
}

// Compare orders keys by namespace, resource, group, name and version.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Resource, other.Resource),
		cmp.Compare(k.Group, other.Group), cmp.Compare(k.Name, other.Name), cmp.Compare(k.Version, other.Version),
	)
}

// ArcType says what an arc means.
type ArcType string

// The types of arcs.
const (
	// Owner leads from an object to its owner.
	Owner ArcType = "or"
	// Uses leads from an object to what it uses or selects.
	Uses ArcType = "r"
	// Names leads from an object to what it names for something else to use.
	Names ArcType = "t"
)

// ArcKey identifies an arc: between two vertices there is one of each type.
type ArcKey struct {
	From, To Key
	Type     ArcType
}

func (k ArcKey) compare(other ArcKey) int {
	return cmp.Or(k.From.Compare(other.From), cmp.Compare(k.Type, other.Type), k.To.Compare(other.To))
}

// Outside says why what an arc leads to is not in the graph, though it may exist.
type Outside string

// The values of Attributes.Outside: why an element is not in the graph.
const (
	// OutsideView: it exists, and the view does not select it.
	OutsideView Outside = "outside"
	// OutsideUnknown: the view does not look where it would be.
	OutsideUnknown Outside = "unknown"
)

// Absent reports whether the destination does not exist although it is required. The status of
// a GraphView counts such arcs that are direct references.
func (a Attributes) Absent() bool { return a.Missing && a.Outside == "" && !a.Optional }

// Attributes say more of an arc.
type Attributes struct {
	// Controller and BlockOwnerDeletion are those of an owner reference.
	Controller         bool `json:"c,omitempty"`
	BlockOwnerDeletion bool `json:"b,omitempty"`
	// Missing: where the arc leads to is not in the graph. Outside says what is known of
	// it then: "" if it does not exist, or has not been read yet. Optional: nothing is
	// wrong with that.
	Missing  bool    `json:"e,omitempty"`
	Outside  Outside `json:"x,omitempty"`
	Optional bool    `json:"o,omitempty"`
	// Fields are the paths of the fields that made the arc, without indices.
	Fields []string `json:"f,omitempty"`
	// Words say what the fields mean, such as mounts or selects. They read from the
	// arc's beginning to its end. An owner reference has none.
	Words []string `json:"w,omitempty"`
}
