package graph

import (
	"fmt"
)

// step does one random thing to a random source's object.
func (w *world) step() {
	var ids []SourceID
	for id := SourceID(1); id <= w.g.lastID; id++ {
		if _, ok := w.m.sources[id]; ok {
			ids = append(ids, id)
		}
	}
	id := pick(w.r, ids...)
	src := w.m.sources[id]
	ns := pick(w.r, "red", "blue")
	if w.m.scopes[src.kind] == ScopeCluster {
		ns = ""
	}
	name := w.name()
	if src.kind == NamespaceKind {
		name = pick(w.r, "red", "blue")
	}
	w.tick++
	if w.r.IntN(3) == 0 {
		w.remove(id, ns, name)
		return
	}
	refNS := ns
	if ns == "" && w.r.IntN(2) == 0 {
		refNS = "red" // else what it refers to is cluster-scoped, or nowhere
	}
	o := Object{
		Namespace: ns, Name: name, UID: fmt.Sprint("u", w.r.IntN(3)), Version: w.tick, Hash: uint64(w.r.IntN(40)),
		Labels: map[string]string{}, References: w.references(refNS),
	}
	o.Payload = o.Hash
	o.Class = classOf(o.Hash)
	if w.r.IntN(8) == 0 {
		o.LapsesAt, o.LapsesTo = 1, o.Class
	}
	for _, k := range []string{"app", "tier"} {
		if w.r.IntN(3) > 0 {
			o.Labels[k] = pick(w.r, "x", "y", "z")
		}
	}
	// All sources of a kind see the same object, under whatever version.
	for _, other := range ids {
		if w.m.sources[other].kind != src.kind {
			continue
		}
		if _, ok := w.m.objects[other][ns+"/"+name]; !ok && other != id {
			continue
		}
		w.set(other, o)
	}
}
