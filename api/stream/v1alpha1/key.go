package v1alpha1

import (
	"cmp"
	"strings"
)

// Key identifies a vertex.
type Key struct {
	// g is the group; empty is the core group.
	Group string `json:"g"`
	// v is the version.
	Version string `json:"v"`
	// r is the resource, such as pods.
	Resource string `json:"r"`
	// ns is the namespace; absent for cluster-scoped objects.
	Namespace string `json:"ns,omitempty"`
	// n is the name.
	Name string `json:"n"`
}

// String returns resource.group/name, or resource.group/namespace/name.
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
