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

// Need is a watch that a view needs, and its use in the view. The keeper compares the needs
// of two plans: a tap stays as long as its need is equal.
type Need struct {
	Resource resources.Resource
	Key      watch.Key
	// Query is the index of the query that selected the resource, Filter is the query's
	// expression, and Roots are the expressions of the view's roots. For the watch of
	// Namespaces, they are -1, the expression of spec.namespaces and its names.
	Query  int
	Filter string
	Roots  string
}

// OfNamespaces reports whether the watch is the watch of Namespaces from which the view selects its
// namespaces.
func (n Need) OfNamespaces() bool { return n.Query < 0 }

// OfReleases reports whether the watch is a watch of Helm releases.
func (n Need) OfReleases() bool { return n.Key.Reduced }

// OfObjects reports whether the objects are vertices of the view's graph.
func (n Need) OfObjects() bool { return !n.OfNamespaces() && !n.OfReleases() }

// Everywhere reports whether the watch is a watch of a namespaced resource in all namespaces.
func (n Need) Everywhere() bool {
	return n.OfObjects() && n.Resource.Namespaced && n.Key.Namespace == ""
}

// Overlaps reports whether two needs may bring the same objects.
func (n Need) Overlaps(o Need) bool {
	return n.Key.Namespace == o.Key.Namespace || n.Key.Namespace == "" || o.Key.Namespace == ""
}

// Purpose identifies needs whose watches can replace each other: they bring objects of the same kind
// for the same use.
type Purpose struct {
	Group, Kind          string
	Namespaces, Releases bool
}

// Purpose returns the purpose of the watch.
func (n Need) Purpose() Purpose {
	return Purpose{Group: n.Resource.Group, Kind: n.Resource.Kind, Namespaces: n.OfNamespaces(), Releases: n.OfReleases()}
}

// ByKey compares needs, for sorting. A need of Secrets comes before the need of their releases.
func ByKey(a, b Need) int { return strings.Compare(a.Key.String(), b.Key.String()) }

// NamespaceNeed returns the need of the Namespaces that the spec may select.
func NamespaceNeed(p *spec.Program) Need {
	n := Need{Query: -1, Resource: resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}}
	n.Key.Resource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if p.Namespaces != nil {
		n.Key.LabelSelector, n.Key.FieldSelector = p.Namespaces.Labels, p.Namespaces.Fields
		n.Filter = p.Spec.Namespaces.ObjectSelectorExpression
		n.Roots = quoted(p.Namespaces.Named())
	}
	return n
}

// releases returns the need of deployed and pending Helm releases that accompanies a need of
// Secrets. ok is false for other resources, and if the field selector excludes the releases.
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

// join joins selectors, and leaves out empty ones.
func join(selectors ...string) string {
	return strings.Join(slices.DeleteFunc(selectors, func(s string) bool { return s == "" }), ",")
}

// quoted encodes a list of strings. Different lists have different encodings.
func quoted(list []string) string {
	var text strings.Builder
	for _, element := range list {
		text.WriteString(strconv.Quote(element))
	}
	return text.String()
}
