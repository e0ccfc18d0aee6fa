package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	for kind := range p.served {
		raw := kinds.Schema(mine.Kind{Group: kind.Group, Name: kind.Kind})
		if raw == nil {
			continue
		}
		reading, err := read(served, kind, raw)
		if err != nil {
			return nil, fmt.Errorf("schema of %s/%s: %w", kind.Group, kind.Kind, err)
		}
		if reading != nil {
			readings[kind] = reading
		}
	}
	p.extractor = refs.Builtin().Serving(served).Reading(readings)
	return p, nil
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
		a := arc{path: strings.TrimPrefix(ref.Field, refs.InferredField), selector: ref.Selector != nil && ref.Name == ""}
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
