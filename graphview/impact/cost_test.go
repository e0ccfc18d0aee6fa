package impact

import (
	"context"
	"errors"
	"fmt"
	"testing"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
)

// large builds large graphs.
type large struct{ Graph }

func (g *large) add(resource, name string, facts streamv1alpha1.DeletionFacts) streamv1alpha1.Key {
	k := key(resource + "/" + name)
	g.Set(k, Object{Facts: facts})
	return k
}

func (g *large) refer(from, to streamv1alpha1.Key, word string) {
	g.SetArc(&streamv1alpha1.Arc{From: from, To: to, Type: v1alpha1.ArcTypeReference, Attributes: streamv1alpha1.Attributes{Words: []string{word}}})
}

func (g *large) own(owner, dependent streamv1alpha1.Key) {
	g.SetArc(&streamv1alpha1.Arc{
		From: dependent, To: owner, Type: v1alpha1.ArcTypeOwnerReference, Attributes: streamv1alpha1.Attributes{Controller: true, BlockOwnerDeletion: true},
	})
}

// chain adds objects that own each other, one of them with a finalizer, and returns the first.
func (g *large) chain(objects, held int) (first streamv1alpha1.Key) {
	var owner streamv1alpha1.Key
	for i := range objects {
		var facts streamv1alpha1.DeletionFacts
		if i == held {
			facts.Finalizers = []string{"example.com/keep"}
		}
		next := g.add("configmaps", fmt.Sprint("c", i), facts)
		if i == 0 {
			first = next
		} else {
			g.own(owner, next)
		}
		owner = next
	}
	return first
}

// largeGraphs have shapes in which one object leads to all others again and again. Each function
// returns the object of the question.
var largeGraphs = map[string]func(*large) streamv1alpha1.Key{
	"a chain of owners, the last with a finalizer":  func(g *large) streamv1alpha1.Key { return g.chain(5_000, 4_999) },
	"a chain of owners, the first with a finalizer": func(g *large) streamv1alpha1.Key { return g.chain(5_000, 0) },
	"a Service selects all pods of a namespace": func(g *large) streamv1alpha1.Key {
		namespace, service := g.add("namespaces", "shop", streamv1alpha1.DeletionFacts{}), g.add("services", "web", streamv1alpha1.DeletionFacts{})
		for i := range 5_000 {
			g.refer(service, g.add("pods", fmt.Sprint("p", i), streamv1alpha1.DeletionFacts{}), "selects")
		}
		return namespace
	},
	"an object with very many owners": func(g *large) streamv1alpha1.Key {
		namespace, owned := g.add("namespaces", "shop", streamv1alpha1.DeletionFacts{}), key("widgets/other/w")
		g.Set(owned, Object{})
		for i := range 5_000 {
			g.own(g.add("configmaps", fmt.Sprint("c", i), streamv1alpha1.DeletionFacts{}), owned)
		}
		return namespace
	},
	"very many kinds": func(g *large) streamv1alpha1.Key {
		app := g.add("kustomizations", "k", streamv1alpha1.DeletionFacts{Prunes: true})
		for i := range 1_000 {
			g.refer(app, g.add("customresourcedefinitions", fmt.Sprintf("widgets%d.example.com", i), streamv1alpha1.DeletionFacts{}), "installs")
		}
		for i := range 4_000 {
			g.add("widgets", fmt.Sprint("w", i), streamv1alpha1.DeletionFacts{})
		}
		return app
	},
	"a claim that very many deleted pods use": func(g *large) streamv1alpha1.Key {
		namespace, claim := g.add("namespaces", "shop", streamv1alpha1.DeletionFacts{}), g.add("persistentvolumeclaims", "c", streamv1alpha1.DeletionFacts{Finalizers: []string{pvcProtection}})
		for i := range 5_000 {
			g.refer(g.add("pods", fmt.Sprint("p", i), streamv1alpha1.DeletionFacts{}), claim, "mounts")
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
	const objects = 20_000
	for policy, holder := range map[Policy]int{Foreground: objects - 1, Background: 0} {
		var g large
		a, err := g.Of(t.Context(), g.chain(objects, holder), policy)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for i := range a.Groups {
			if len(a.Groups[i].Holds) > 0 {
				held += len(a.Groups[i].Objects)
			}
		}
		if held != objects {
			t.Errorf("%s: %d objects are held, want all %d", policy, held, objects)
		}
	}
}

// TestContextEndsTheSearch: a search ends soon after its context.
func TestContextEndsTheSearch(t *testing.T) {
	var g large
	object := g.chain(5_000, 4_999)
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
