package impact

import (
	"cmp"
	"slices"

	"graphview.dev/graphview/graph"
)

// Object is an object of the graph.
type Object struct {
	// Kind may be empty.
	Kind  string
	Facts Facts
}

// ArcKey identifies an arc.
type ArcKey struct {
	From, To graph.Key
	Type     graph.ArcType
}

// Arc describes a reference. The package does not modify the slices.
type Arc struct {
	// Fields and Words are those of the stream protocol.
	Fields, Words []string
	// Controller and Blocking are those of an owner reference.
	Controller, Blocking bool
	// Optional: the object works without the target.
	Optional bool
	// Missing: the target is not in the graph. Outside: it may still exist.
	Missing, Outside bool
}

// Graph is a snapshot of objects and references. The zero value is empty.
type Graph struct {
	objects map[graph.Key]Object
	arcs    map[ArcKey]Arc
	out, in map[graph.Key][]link
}

// link is an arc at one of its ends.
type link struct {
	ArcKey
	Arc
}

// Set adds or replaces an object.
func (g *Graph) Set(key graph.Key, o Object) {
	if g.objects == nil {
		g.objects = map[graph.Key]Object{}
	}
	g.objects[key] = o
}

// Delete removes an object.
func (g *Graph) Delete(key graph.Key) { delete(g.objects, key) }

// SetArc adds or replaces an arc.
func (g *Graph) SetArc(key ArcKey, a Arc) {
	if g.arcs == nil {
		g.arcs = map[ArcKey]Arc{}
	}
	g.arcs[key] = a
}

// DeleteArc removes an arc.
func (g *Graph) DeleteArc(key ArcKey) { delete(g.arcs, key) }

// Find returns the key of an object in the graph. The given key may lack its version.
func (g *Graph) Find(key graph.Key) (graph.Key, bool) {
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
func (g *Graph) Referrers(object graph.Key) int {
	from := map[graph.Key]bool{}
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
	g.out, g.in = map[graph.Key][]link{}, map[graph.Key][]link{}
	for key, a := range g.arcs {
		if key.From != key.To {
			g.out[key.From] = append(g.out[key.From], link{key, a})
			g.in[key.To] = append(g.in[key.To], link{key, a})
		}
	}
	for _, links := range g.out {
		slices.SortFunc(links, func(a, b link) int { return cmp.Or(compare(a.To, b.To), cmp.Compare(a.Type, b.Type)) })
	}
	for _, links := range g.in {
		slices.SortFunc(links, func(a, b link) int { return cmp.Or(compare(a.From, b.From), cmp.Compare(a.Type, b.Type)) })
	}
}

// compare orders keys by namespace, resource, group and name.
func compare(a, b graph.Key) int {
	return cmp.Or(
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Resource.Resource, b.Resource.Resource),
		cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version),
	)
}

func is(key graph.Key, group, resource string) bool {
	return key.Group == group && key.Resource.Resource == resource
}
