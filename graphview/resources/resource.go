package resources

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a resource in one API version that can be listed and watched. The
// core group is "".
type Resource struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
}

// String returns group/version/resource, or version/resource in the core group.
func (r Resource) String() string {
	return r.groupVersion().String() + "/" + r.Resource
}

func (r Resource) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// compareResources orders by group, resource and version. Select relies on the versions of
// a resource being next to each other.
func compareResources(a, b Resource) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		strings.Compare(a.Resource, b.Resource),
		compareNatural(a.Version, b.Version),
	)
}

// servedGroup is the API that the operator itself serves. Its graphs are built from the
// catalog, and it is available only while the operator is.
const servedGroup = "stream.graphview.dev"

// excluded reports whether views never see a group. extensions and events.k8s.io serve
// objects of other groups a second time, and discovery does not show that.
func excluded(group string) bool {
	switch group {
	case "extensions", "events.k8s.io", servedGroup:
		return true
	default:
		return false
	}
}

// watchable returns the discovered resources of a group/version that support list and watch.
func watchable(gv schema.GroupVersion, discovered []metav1.APIResource) []Resource {
	var out []Resource
	for _, r := range discovered {
		if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch") {
			continue
		}
		out = append(out, Resource{
			// Not r.Group and r.Version: they belong to the kind, which may
			// be of another group/version than the resource.
			Group:      gv.Group,
			Version:    gv.Version,
			Resource:   r.Name,
			Kind:       r.Kind,
			Namespaced: r.Namespaced,
		})
	}
	return out
}
