//go:build !race

package graph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/bench/heap"
	"graphview.dev/test/seed"
)

// textObjects returns objects of one shape, which a seed determines.
type textObjects func(random *rand.Rand) func(i int) Object

// text returns a text of some length that no other call of the same id returns.
func text(id string, length int) string { return id + strings.Repeat("x", max(0, length-len(id))) }

var textShapes = map[string]textObjects{
	"labels": func(random *rand.Rand) func(int) Object {
		labels, key, value := 1+random.IntN(500)/(1+random.IntN(500)), 8+random.IntN(60), random.IntN(63)
		return func(i int) Object {
			o := Object{Labels: make(map[string]string)}
			for j := range labels {
				o.Labels[text(fmt.Sprint(i, "-", j), key)] = text(fmt.Sprint(j), value)
			}
			return o
		}
	},
	"selectors": func(random *rand.Rand) func(int) Object {
		shape := func(i, j, r, values, length int, op Operator) Requirement {
			made := Requirement{Key: text(fmt.Sprint("k", r), length), Op: op}
			if op == Exists || op == DoesNotExist {
				made.Key = text(fmt.Sprint(i, "-", j, "-", r), length)
				return made
			}
			made.Values = make([]string, 0, values)
			for v := range values {
				made.Values = append(made.Values, text(fmt.Sprint(i, "-", j, "-", r, "-", v), length))
			}
			return made
		}
		selectors, requirements, values, length := 1+random.IntN(60)/(1+random.IntN(60)), 1+random.IntN(3), 1+random.IntN(60)/(1+random.IntN(60)), 10+random.IntN(53)
		ops := make([]Operator, requirements)
		for i := range ops {
			ops[i] = Operator(random.IntN(4))
		}
		ofNamespaces := random.IntN(2) == 0
		return func(i int) (o Object) {
			for j := range selectors {
				s := &Selector{Requirements: make([]Requirement, 0, requirements)}
				for r, op := range ops {
					s.Requirements = append(s.Requirements, shape(i, j, r, values, length, op))
				}
				ref := Reference{Type: Direct, To: Kind{Kind: "Pod"}, AllNamespaces: true, Field: "spec", Selector: s}
				if ofNamespaces {
					ref.Namespaces = &Selector{Requirements: []Requirement{shape(i, j, 9, 1+values/10, length, ops[0])}}
				}
				o.References = append(o.References, ref)
			}
			return o
		}
	},
	"paths": func(random *rand.Rand) func(int) Object {
		paths, length := 1+random.IntN(500), 10+random.IntN(300)
		return func(i int) (o Object) {
			for j := range paths {
				o.References = append(o.References, Reference{
					Type: Direct, To: Kind{Kind: "Secret"}, Scope: ScopeNamespaced, Namespace: "shop", Name: fmt.Sprint(j), Field: text(fmt.Sprint(i, "-", j), length),
				})
			}
			return o
		}
	},
}

// TestTextBytes: labels, selectors and the paths of references take no more memory than is charged to the
// namespace of the objects, and selectors at least six tenths of it, labels and paths half. Without the objects,
// nothing is charged.
func TestTextBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for _, name := range slices.Sorted(maps.Keys(textShapes)) {
		shape := textShapes[name]
		rounds, least := 3, 0.5
		if name == "selectors" {
			rounds, least = 10, 0.6
		}
		for range rounds {
			paid := account{}
			g := New(paid)
			var source SourceID
			g.Update(func() {
				source = g.AddSource(Kind{Kind: "Policy"}, Resource{Version: "v1", Resource: "policies"}, ScopeNamespaced)
				g.AddSource(Kind{Kind: "Secret"}, Resource{Version: "v1", Resource: "secrets"}, ScopeNamespaced)
			})
			of, objects, before := shape(random), 100+random.IntN(400), int64(0)
			if name == "labels" {
				objects *= 10 // some have one label
			}
			if name == "selectors" { // as many as make the noise of the heap small
				parts := 10
				for _, r := range of(0).References {
					for i := range r.Selector.Requirements {
						parts += 1 + len(r.Selector.Requirements[i].Values)
					}
				}
				objects = 100 + 50_000/parts
			}
			for version := uint64(1); version <= 2; version++ {
				for i := range objects {
					var o Object
					if version == 2 {
						o = of(i)
					}
					o.Namespace, o.Name, o.UID, o.Version, o.Hash = "shop", fmt.Sprint(i), fmt.Sprint(i), version, version
					g.Update(func() { g.Set(source, &o) })
					g.drain()
				}
				if version == 1 {
					before = heap.Held()
				}
			}
			took, said := int(heap.Held()-before), paid["shop"]
			runtime.KeepAlive(g)
			t.Logf("%s: said %d bytes for each of %d objects, takes %d: %.2f", name, said/objects, objects, took/objects, float64(took)/float64(said))
			if took > said+heap.Noise || float64(took) < least*float64(said) {
				t.Errorf("%s: says %d bytes, takes %d", name, said, took)
			}
			g.Update(func() { g.RemoveSource(source) })
			g.drain()
			if paid["shop"] != 0 || len(g.texts)+len(g.named) > 0 {
				t.Errorf("%s: %d bytes are charged for no object", name, paid["shop"])
			}
		}
	}
}

// TestIndexOfSelectorsShrinks: selectors that are gone take no memory, also if others of the kind are left.
func TestIndexOfSelectorsShrinks(t *testing.T) {
	const objects, values = 100, 1000
	g := New(nil)
	var source SourceID
	g.Update(func() {
		source = g.AddSource(Kind{Kind: "Policy"}, Resource{Version: "v1", Resource: "policies"}, ScopeNamespaced)
	})
	set := func(i, values int) {
		r := Requirement{Key: "app", Op: In}
		for v := range values {
			r.Values = append(r.Values, fmt.Sprint(i, "-", v))
		}
		g.Update(func() {
			g.Set(source, &Object{
				Namespace: "shop", Name: fmt.Sprint(i), UID: fmt.Sprint(i), Version: 1, Hash: 1, References: []Reference{
					{Type: Direct, To: Kind{Kind: "Pod"}, AllNamespaces: true, Field: "spec", Selector: &Selector{Requirements: []Requirement{r}}},
				},
			})
		})
	}
	set(objects, 1)
	before := heap.Held()
	for i := range objects {
		set(i, values)
	}
	took := heap.Held() - before
	left := removeAll(g, source, objects) - before
	if took < 50*objects*values || left > took/50 {
		t.Errorf("%d bytes are left of %d", left, took)
	}
}

// removeAll removes the objects with the names 0, 1 and so on from a namespace, and returns the bytes that are then in use.
func removeAll(g *Graph, source SourceID, objects int) int64 {
	for i := range objects {
		g.Update(func() { g.Remove(source, "shop", fmt.Sprint(i)) })
	}
	g.drain()
	held := heap.Held()
	runtime.KeepAlive(g)
	return held
}
