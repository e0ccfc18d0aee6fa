package plan

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// Need is a watch that a view needs, with its purpose. The keeper compares needs: a
// need that stays equal keeps its tap.
type Need struct {
	Resource resources.Resource
	Key      watch.Key
	// Query is the index of the query that selected the resource, Filter the query's
	// expression and Roots the expressions of the view's roots. In the need of Namespaces
	// they are -1, the expression of spec.namespaces and its names.
	Query  int
	Filter string
	Roots  string
}

// OfNamespaces reports whether the watch is that of Namespaces, which selects namespaces
// for the view.
func (n Need) OfNamespaces() bool { return n.Query < 0 }

// OfReleases reports whether the watch is that of Helm's releases.
func (n Need) OfReleases() bool { return n.Key.Reduced }

// OfObjects reports whether the objects are vertices of the view's graph.
func (n Need) OfObjects() bool { return !n.OfNamespaces() && !n.OfReleases() }

// Everywhere reports whether the watch is of all namespaces of a namespaced resource.
func (n Need) Everywhere() bool {
	return n.OfObjects() && n.Resource.Namespaced && n.Key.Namespace == ""
}

// DemandKey is the key by which views demand the watch, whatever its extent.
func (n Need) DemandKey() watch.Key {
	n.Key.Partial = false
	return n.Key
}

// Overlaps reports whether two needs may bring the same objects.
func (n Need) Overlaps(o Need) bool {
	return n.Key.Namespace == o.Key.Namespace || n.Key.Namespace == "" || o.Key.Namespace == ""
}

// Purpose is what needs have in common whose watches can take each other's place: they bring
// objects of the same kind for the same use.
type Purpose struct {
	Group, Kind          string
	Namespaces, Releases bool
}

// Purpose returns the purpose of the watch.
func (n Need) Purpose() Purpose {
	return Purpose{Group: n.Resource.Group, Kind: n.Resource.Kind, Namespaces: n.OfNamespaces(), Releases: n.OfReleases()}
}

// ByKey orders needs. A need of Secrets precedes the need of its releases.
func ByKey(a, b Need) int { return strings.Compare(a.Key.String(), b.Key.String()) }

// NamespaceNeed is the watch of the Namespaces that the spec may select.
func NamespaceNeed(p *spec.Program) Need {
	n := Need{Query: -1, Resource: resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}}
	n.Key.Resource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if p.Namespaces != nil {
		n.Key.LabelSelector, n.Key.FieldSelector = p.Namespaces.Labels, p.Namespaces.Fields
		n.Filter = p.Spec.Namespaces.ObjectSelectorExpression
		n.Roots = quoted(p.Spec.Namespaces.Names)
	}
	return n
}

// releases is the watch of Helm's deployed and pending releases, which accompanies a need
// of Secrets. It reports false for other resources and for queries that exclude the releases.
func (n Need) releases() (_ Need, ok bool) {
	if n.Resource.Group != "" || n.Resource.Resource != "secrets" {
		return Need{}, false
	}
	selector, err := fields.ParseSelector(n.Key.FieldSelector)
	if err != nil {
		return Need{}, false // the watch of Secrets reports the error
	}
	for _, r := range selector.Requirements() {
		if isHelm := r.Value == helm.SecretType; r.Field == "type" && isHelm == (r.Operator == "!=") {
			return Need{}, false
		}
	}
	n.Key.FieldSelector = join(n.Key.FieldSelector, "type="+helm.SecretType)
	n.Key.LabelSelector = join(n.Key.LabelSelector, helm.NotEnded)
	n.Key.Reduced = true
	return n, true
}

// join joins selectors. The first may be empty.
func join(selectors ...string) string {
	return strings.Join(slices.DeleteFunc(selectors, func(s string) bool { return s == "" }), ",")
}

// quoted encodes a list of strings injectively.
func quoted(list []string) string {
	var text strings.Builder
	for _, element := range list {
		text.WriteString(strconv.Quote(element))
	}
	return text.String()
}
