package client

import (
	"cmp"
	"maps"
	"slices"
)

// neighbours has the arcs at each end. It is built at the first use, and then changed by
// messages.
type neighbours struct {
	out, in map[Key]map[ArcKey]struct{}
	// explaining has the objects of Graph.explaining by namespace, nil until its first use after an object changed.
	explaining map[string][]explaining
}

// Out returns the arcs that begin at a vertex, sorted by type and destination.
// The first call takes time in the number of the graph's arcs, and each later one
// in the number of returned arcs. A caller that changes Arcs itself calls Out on a Clone.
func (g *Graph) Out(key Key) []Arc { return g.arcs(g.index().out[key]) }

// In returns the arcs that end at a vertex, or at a missing object with that key, sorted by
// type and source. It takes as much time as Out.
func (g *Graph) In(key Key) []Arc { return g.arcs(g.index().in[key]) }

func (g *Graph) arcs(keys map[ArcKey]struct{}) []Arc {
	all := make([]Arc, 0, len(keys))
	for key := range keys {
		all = append(all, Arc{From: key.From, To: key.To, Type: key.Type, Attributes: g.Arcs[key]})
	}
	slices.SortFunc(all, func(a, b Arc) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), a.To.Compare(b.To), a.From.Compare(b.From))
	})
	return all
}

func (g *Graph) index() *neighbours {
	if g.neighbours == nil {
		g.neighbours = &neighbours{out: map[Key]map[ArcKey]struct{}{}, in: map[Key]map[ArcKey]struct{}{}}
		for key := range maps.Keys(g.Arcs) {
			g.neighbours.set(key)
		}
	}
	return g.neighbours
}

// set and remove do nothing before the first query.
func (n *neighbours) set(key ArcKey) {
	if n != nil {
		put(n.out, key.From, key)
		put(n.in, key.To, key)
	}
}

func (n *neighbours) remove(key ArcKey) {
	if n != nil {
		take(n.out, key.From, key)
		take(n.in, key.To, key)
	}
}

// setVertices is called when vertices were set or deleted.
func (n *neighbours) setVertices() {
	if n != nil {
		n.explaining = nil
	}
}

func put(at map[Key]map[ArcKey]struct{}, end Key, key ArcKey) {
	if at[end] == nil {
		at[end] = map[ArcKey]struct{}{}
	}
	at[end][key] = struct{}{}
}

func take(at map[Key]map[ArcKey]struct{}, end Key, key ArcKey) {
	delete(at[end], key)
	if len(at[end]) == 0 {
		delete(at, end)
	}
}
