package impact

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"graphview.dev/graphview/graph"
)

// large builds large graphs.
type large struct{ Graph }

func (g *large) add(resource, name string, facts Facts) graph.Key {
	k := key(resource + "/" + name)
	g.Set(k, Object{Facts: facts})
	return k
}

func (g *large) refer(from, to graph.Key, word string) {
	g.SetArc(ArcKey{From: from, To: to, Type: graph.Direct}, Arc{Words: []string{word}})
}

func (g *large) own(owner, dependent graph.Key) {
	g.SetArc(ArcKey{From: dependent, To: owner, Type: graph.OwnerReference}, Arc{Controller: true, Blocking: true})
}

// largeGraphs have shapes in which one object leads to all others again and again. Each function
// returns the object of the question.
var largeGraphs = map[string]func(*large) graph.Key{
	"a chain of owners, the last with a finalizer": func(g *large) graph.Key {
		last := g.add("configmaps", "c0", Facts{})
		first := last
		for i := 1; i < 20_000; i++ {
			next := g.add("configmaps", fmt.Sprint("c", i), Facts{Finalizers: []string{"example.com/keep"}[:i/19_999]})
			g.own(last, next)
			last = next
		}
		return first
	},
	"a chain of owners, the first with a finalizer": func(g *large) graph.Key {
		last := g.add("configmaps", "c0", Facts{Finalizers: []string{"example.com/keep"}})
		first := last
		for i := 1; i < 20_000; i++ {
			next := g.add("configmaps", fmt.Sprint("c", i), Facts{})
			g.own(last, next)
			last = next
		}
		return first
	},
	"a Service selects all pods of a namespace": func(g *large) graph.Key {
		namespace, service := g.add("namespaces", "shop", Facts{}), g.add("services", "web", Facts{})
		for i := range 5_000 {
			g.refer(service, g.add("pods", fmt.Sprint("p", i), Facts{}), "selects")
		}
		return namespace
	},
	"an object with very many owners": func(g *large) graph.Key {
		namespace, owned := g.add("namespaces", "shop", Facts{}), key("widgets/other/w")
		g.Set(owned, Object{})
		for i := range 5_000 {
			g.own(g.add("configmaps", fmt.Sprint("c", i), Facts{}), owned)
		}
		return namespace
	},
	"very many kinds": func(g *large) graph.Key {
		app := g.add("kustomizations", "k", Facts{Prunes: true})
		for i := range 1_000 {
			g.refer(app, g.add("customresourcedefinitions", fmt.Sprintf("widgets%d.example.com", i), Facts{}), "installs")
		}
		for i := range 4_000 {
			g.add("widgets", fmt.Sprint("w", i), Facts{})
		}
		return app
	},
	"a claim that very many deleted pods use": func(g *large) graph.Key {
		namespace, claim := g.add("namespaces", "shop", Facts{}), g.add("persistentvolumeclaims", "c", Facts{Finalizers: []string{pvcProtection}})
		for i := range 5_000 {
			g.refer(g.add("pods", fmt.Sprint("p", i), Facts{}), claim, "mounts")
		}
		return namespace
	},
}

// TestStepsAreLinear: the steps of a search do not grow faster than the graph.
func TestStepsAreLinear(t *testing.T) {
	const most = 12 // for each object and arc
	for name, build := range largeGraphs {
		for _, policy := range []Policy{Background, Foreground} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				var g large
				object := build(&g)
				g.index()
				s := newSearch(t.Context(), &g.Graph, object, policy)
				if _, err := s.run(); err != nil {
					t.Fatal(err)
				}
				if size := len(g.objects) + len(g.arcs); s.steps > most*size {
					t.Errorf("%d steps for %d objects and arcs, want at most %d", s.steps, size, most*size)
				}
			})
		}
	}
}

// TestChainIsHeld: a hold goes through a long chain of owners, in both directions.
func TestChainIsHeld(t *testing.T) {
	for name, policy := range map[string]Policy{
		"a chain of owners, the last with a finalizer":  Foreground,
		"a chain of owners, the first with a finalizer": Background,
	} {
		var g large // of 20,000 objects
		a, err := g.Of(t.Context(), largeGraphs[name](&g), policy)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for i := range a.Groups {
			if len(a.Groups[i].Holds) > 0 {
				held += len(a.Groups[i].Objects)
			}
		}
		if held != 20_000 {
			t.Errorf("%s: %d objects are held, want all 20000", name, held)
		}
	}
}

// TestContextEndsTheSearch: a search ends soon after its context.
func TestContextEndsTheSearch(t *testing.T) {
	var g large
	object := largeGraphs["a chain of owners, the last with a finalizer"](&g)
	g.index()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newSearch(ctx, &g.Graph, object, Foreground)
	if _, err := s.run(); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want %v", err, context.Canceled)
	}
	if s.steps > 2*stepsPerCheck {
		t.Errorf("%d steps after the end of the context, want at most %d", s.steps, 2*stepsPerCheck)
	}
}
