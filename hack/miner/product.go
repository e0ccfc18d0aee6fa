package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/schemas"
	"graphview.dev/hack/miner/mine"
)

// product finds references as the operator does in a cluster that serves some kinds.
type product struct {
	extractor *refs.Extractor
	kinds     *mine.Kinds
	schemas   schemaFigures
	served    map[graph.Kind]graph.Scope
}

func newProduct(kinds *mine.Kinds) (*product, error) {
	p := &product{kinds: kinds, served: map[graph.Kind]graph.Scope{}}
	kinds.Each(func(kind mine.Kind, cluster bool) {
		p.served[graphKind(kind)] = graph.ScopeNamespaced
		if cluster {
			p.served[graphKind(kind)] = graph.ScopeCluster
		}
	})
	served := refs.NewServed(p.served)
	readings := map[graph.Kind]*refs.Reading{}
	before := heap()
	for kind := range p.served {
		raw := kinds.Schema(mine.Kind{Group: kind.Group, Name: kind.Kind})
		if raw == nil {
			continue
		}
		reading, err := read(served, kind, raw)
		if err != nil {
			return nil, fmt.Errorf("schema of %s/%s: %w", kind.Group, kind.Kind, err)
		}
		p.schemas.kinds++
		p.schemas.rules += reading.Rules()
		if reading != nil {
			readings[kind] = reading
			p.schemas.telling++
		}
	}
	p.schemas.bytes = heap() - before
	p.extractor = refs.Builtin().Serving(served).Reading(readings)
	return p, nil
}

// schemaFigures are how many kinds have schemas, how many of these tell anything, how
// many references they tell, and what memory that takes.
type schemaFigures struct {
	kinds, telling, rules int
	bytes                 int64
}

func (f schemaFigures) String() string {
	return fmt.Sprintf("schemas of %d kinds, of which %d tell %d references in %.1f MB, %.1f KB a kind",
		f.kinds, f.telling, f.rules, float64(f.bytes)/1e6, float64(f.bytes)/1e3/float64(max(f.kinds, 1)))
}

// heap is what is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// read reads the schema of a kind, as the operator reads what a server publishes of it.
func read(served *refs.Served, kind graph.Kind, raw map[string]any) (*refs.Reading, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	schema, err := schemas.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return served.Read(kind, schema)
}

func graphKind(kind mine.Kind) graph.Kind { return graph.Kind{Group: kind.Group, Kind: kind.Name} }

// arc is a reference that the product finds.
type arc struct {
	path     string
	target   mine.Target
	selector bool
}

// arcs are the references of an object of which the graph makes arcs: to kinds that are
// served, and if inferred, to objects that are there.
func (p *product) arcs(w *mine.World, o *mine.Object) []arc {
	var arcs []arc
	for _, ref := range p.extractor.Extract(graphKind(o.Kind), o.Content) {
		scope, ok := p.served[ref.To]
		if ref.Type == graph.OwnerReference || !ok && ref.Selector == nil {
			continue
		}
		a := arc{path: strings.TrimPrefix(ref.Field, graph.InferredField), selector: ref.Selector != nil && ref.Name == ""}
		a.target = mine.Target{Kind: mine.Kind{Group: ref.To.Group, Name: ref.To.Kind}, Name: ref.Name}
		if scope != graph.ScopeCluster {
			a.target.Namespace = ref.Namespace
		}
		if ref.Inferred && !w.Exists(a.target.Kind, a.target.Namespace, a.target.Name) {
			continue
		}
		arcs = append(arcs, a)
	}
	return arcs
}

// lists tells whether the table describes a kind.
func (p *product) lists(kind mine.Kind) bool { return p.extractor.Lists(graphKind(kind)) }
