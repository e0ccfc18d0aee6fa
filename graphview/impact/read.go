package impact

import (
	"cmp"
	"slices"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

// Object is an object of the graph.
type Object struct {
	// Kind may be empty.
	Kind  string
	Facts streamv1alpha1.DeletionFacts
}

// Graph is a snapshot of objects and references. The zero value is empty. Slices of
// its arguments are not modified.
type Graph struct {
	objects map[streamv1alpha1.Key]Object
	arcs    map[streamv1alpha1.ArcKey]streamv1alpha1.Attributes
	out, in map[streamv1alpha1.Key][]link
}

// link is an arc at one of its ends.
type link struct {
	streamv1alpha1.ArcKey
	streamv1alpha1.Attributes
}

// Set adds or replaces an object.
func (g *Graph) Set(key streamv1alpha1.Key, o Object) {
	if g.objects == nil {
		g.objects = map[streamv1alpha1.Key]Object{}
	}
	g.objects[key] = o
}

// Delete removes an object.
func (g *Graph) Delete(key streamv1alpha1.Key) { delete(g.objects, key) }

// SetArc adds or replaces an arc.
func (g *Graph) SetArc(a *streamv1alpha1.Arc) {
	if g.arcs == nil {
		g.arcs = map[streamv1alpha1.ArcKey]streamv1alpha1.Attributes{}
	}
	g.arcs[a.Key()] = a.Attributes
}

// DeleteArc removes an arc.
func (g *Graph) DeleteArc(key streamv1alpha1.ArcKey) { delete(g.arcs, key) }

// Find returns the key of an object in the graph. The given key may lack its version.
func (g *Graph) Find(key streamv1alpha1.Key) (streamv1alpha1.Key, bool) {
	if _, ok := g.objects[key]; ok {
		return key, true
	}
	for found := range g.objects {
		if wanted := key; wanted.Version == "" {
			wanted.Version = found.Version
			if wanted == found {
				return found, true
			}
		}
	}
	return key, false
}

// Referrers counts the objects in the graph that refer to an object, which need not be there. The key may lack
// its version.
func (g *Graph) Referrers(object streamv1alpha1.Key) int {
	from := map[streamv1alpha1.Key]bool{}
	for key := range g.arcs {
		to := key.To
		if object.Version == "" {
			to.Version = ""
		}
		if _, there := g.objects[key.From]; there && to == object {
			from[key.From] = true
		}
	}
	return len(from)
}

// index groups the arcs by their ends.
func (g *Graph) index() {
	g.out, g.in = map[streamv1alpha1.Key][]link{}, map[streamv1alpha1.Key][]link{}
	for key, a := range g.arcs {
		if key.From != key.To {
			g.out[key.From] = append(g.out[key.From], link{key, a})
			g.in[key.To] = append(g.in[key.To], link{key, a})
		}
	}
	for _, links := range g.out {
		slices.SortFunc(links, func(a, b link) int { return cmp.Or(a.To.Compare(b.To), cmp.Compare(a.Type, b.Type)) })
	}
	for _, links := range g.in {
		slices.SortFunc(links, func(a, b link) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Type, b.Type)) })
	}
}

func is(key streamv1alpha1.Key, group, resource string) bool {
	return key.Group == group && key.Resource == resource
}
