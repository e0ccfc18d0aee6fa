package integration

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/testr"
	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/seed"
	"graphview.dev/test/workload"
)

// runEngine runs an engine until the test ends.
func runEngine(t *testing.T, o graphview.Options) *graphview.Engine {
	t.Helper()
	return runEngineAs(t, o, cluster.Config())
}

// runEngineAs runs an engine with another user than the administrator.
func runEngineAs(t *testing.T, o graphview.Options, config *rest.Config) *graphview.Engine {
	t.Helper()
	o.Config = config
	if o.Logger.GetSink() == nil {
		o.Logger = testr.New(t)
	}
	engine, err := graphview.NewEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, engine.Run)
	return engine
}

// specOf is an oracle's view as the engine wants it.
func specOf(t testing.TB, v oracle.View) v1alpha1.GraphViewSpec {
	t.Helper()
	out, err := workload.Spec(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGraphEqualsOracle changes two namespaces at random, with real controllers
// at work in them, and wants every view's subscribers to end with the graph
// that fresh lists give, with objects and with summaries.
func TestGraphEqualsOracle(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	engine := runEngine(t, graphview.Options{})
	views := workload.Views(red, blue)
	var followers sync.Map
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	join := func(which string) {
		for name := range views {
			v, ok := engine.View(graphview.Name{Namespace: red, Name: name})
			if !ok {
				t.Fatalf("no view %q", name)
			}
			followers.Store(name+", joined "+which, follow(ctx, v))
			followers.Store(name+" in summaries, joined "+which, followContent(ctx, v, delivery.SummaryOnly))
		}
	}
	for name, v := range views {
		if err := engine.Apply(t.Context(), graphview.Name{Namespace: red, Name: name}, "uid-"+name, specOf(t, v)); err != nil {
			t.Fatal(err)
		}
	}
	join("at the start")

	w := workload.Workload{Client: c, Random: rand.New(rand.NewPCG(seed.Of(t), 1)), Namespaces: []string{red, blue}}
	for range 3 {
		for range 60 {
			if err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			if err := w.PodStatus(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		join(fmt.Sprint("after ", w.Steps))
	}

	wanted := maps.Clone(views)
	for name, v := range views {
		v.Summaries = true
		wanted[name+" in summaries"] = v
	}
	agree(t, wanted, func(name string, want oracle.Graph) (why string) {
		followers.Range(func(key, f any) bool {
			if strings.HasPrefix(key.(string), name+",") {
				if d := f.(*graphFollower).Differs(want); d != "" {
					status, _ := engine.Status(graphview.Name{Namespace: red, Name: strings.TrimSuffix(name, " in summaries")})
					why = fmt.Sprintf("%s, of %d vertices and %d arcs; oracle %d and %d:\n%s",
						key, status.Vertices, status.Arcs, len(want.Vertices), len(want.Arcs), d)
				}
			}
			return why == ""
		})
		return why
	})
	stop()
	followers.Range(func(_, f any) bool {
		<-f.(*graphFollower).done
		return true
	})
}
