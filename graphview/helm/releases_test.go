package helm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/seed"
)

// source is a watch of these tests, with the id that the graph gave it.
type source struct{ id graph.SourceID }

func newReleases() (*graph.Graph, *Releases[*source]) {
	g := graph.New(nil)
	return g, NewReleases(func(s *source, o *graph.Object) { g.Set(s.id, o) })
}

// secretName returns the name that Helm gives to the Secret of a revision.
func secretName(release string, number uint64) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release, number)
}

// modelled is the model of a release: the objects and the managed objects of each revision, by the watch that brought them.
type modelled struct {
	objects map[revisionName]map[*source]*graph.Object
	managed map[revisionName]map[*source]*Managed
}

// revisionName identifies a revision: that of a ConfigMap, or that of a Secret.
type revisionName struct {
	configMap bool
	release   string
	number    uint64
}

func (m *modelled) forget(of *source) {
	for _, watches := range m.objects {
		delete(watches, of)
	}
	for _, watches := range m.managed {
		delete(watches, of)
	}
}

// latest returns the managed objects of a revision, and its rank: 2 if it is deployed, 1 if it is pending, else 0.
func (m *modelled) latest(at revisionName) (latest *Managed, rank int) {
	for _, of := range m.managed[at] {
		if latest == nil || of.Version > latest.Version {
			latest = of
		}
	}
	switch {
	case latest == nil:
	case latest.Deployed:
		rank = 2
	case latest.Pending:
		rank = 1
	}
	for _, o := range m.objects[at] {
		if latest != nil && o.Version > latest.Version && Ended(o.Labels) {
			rank = 0
		}
	}
	return latest, rank
}

// arcs returns the number of references from the newest revisions.
func (m *modelled) arcs(names []string, numbers uint64) (arcs int) {
	for _, configMap := range []bool{false, true} {
		for _, name := range names {
			var newest revisionName
			best := 0
			for number := range numbers {
				at := revisionName{configMap, name, 1 + number}
				if _, rank := m.latest(at); rank > 0 && rank >= best {
					newest, best = at, rank
				}
			}
			if latest, _ := m.latest(newest); best > 0 && len(m.objects[newest]) > 0 {
				arcs += len(latest.References)
			}
		}
	}
	return arcs
}

// TestReleasesDifferential adds, changes and deletes Secrets, ConfigMaps and managed objects at random, from
// several watches each, in any status and order. The graph has the arcs of the newest deployed revisions, or else
// of the newest pending ones.
func TestReleasesDifferential(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	g, known := newReleases()
	watches, tellers := []*source{new(source), new(source), new(source)}, []*source{new(source), new(source)}
	announce := func(f *source) {
		kind, resource := "Secret", "secrets"
		if f == watches[2] {
			kind, resource = "ConfigMap", "configmaps"
		}
		f.id = g.AddSource(graph.Kind{Kind: kind}, graph.Resource{Version: "v1", Resource: resource}, graph.ScopeNamespaced)
	}
	g.Update(func() {
		for _, f := range watches {
			announce(f)
		}
	})
	names, statuses := []string{"web", "shop"}, slices.Concat(current, ended)
	const numbers = 3
	model := modelled{objects: map[revisionName]map[*source]*graph.Object{}, managed: map[revisionName]map[*source]*Managed{}}
	for step := range 10_000 {
		f, teller := watches[r.IntN(len(watches))], tellers[r.IntN(len(tellers))]
		at := revisionName{f == watches[2], names[r.IntN(len(names))], 1 + r.Uint64N(numbers)}
		object, version, status := secretName(at.release, at.number), uint64(step+1), statuses[r.IntN(len(statuses))]
		if model.objects[at] == nil {
			model.objects[at], model.managed[at] = map[*source]*graph.Object{}, map[*source]*Managed{}
		}
		managed := &Managed{Version: version, Hash: version | 1<<40, Deployed: status == "deployed", Pending: slices.Contains(current[1:], status)}
		for i := range r.IntN(4) {
			managed.References = append(managed.References, graph.Reference{
				Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: fmt.Sprint(object, at.configMap, i), Field: Field,
			})
		}
		if !managed.Deployed && !managed.Pending {
			managed = nil
		}
		g.Update(func() {
			switch n := r.IntN(13); {
			case n == 0:
				known.RemoveWatch(f)
				g.RemoveSource(f.id)
				announce(f)
				model.forget(f)
			case n == 1:
				known.RemoveWatch(teller)
				model.forget(teller)
			case n < 4:
				g.Remove(f.id, "ns", object)
				known.DeleteObject(f, at.configMap, "ns", object)
				delete(model.objects[at], f)
				delete(model.managed[at], f)
			case n < 8, at.configMap:
				if delete(model.managed[at], f); !at.configMap {
					managed = nil
				} else if managed != nil {
					managed.Version, managed.Hash = 0, 0 // SetObject sets them
					model.managed[at][f] = managed
				}
				to := []*source{f}
				if !at.configMap && slices.Contains(ended, status) {
					to = watches[:2] // the graph would keep the newer of two versions, whichever watch is removed
				}
				for _, f := range to {
					o := &graph.Object{Namespace: "ns", Name: object, Version: version, Hash: version, Labels: map[string]string{"status": status}}
					model.objects[at][f] = o
					own := *o
					known.SetObject(f, at.configMap, &own, managed)
					g.Set(f.id, &own)
				}
			case managed == nil:
				known.SetManaged(teller, "ns", object, nil)
				delete(model.managed[at], teller)
			default:
				known.SetManaged(teller, "ns", object, managed)
				model.managed[at][teller] = managed
			}
		})
		if got, want := g.Size().Arcs, model.arcs(names, numbers); got != want {
			t.Fatalf("step %d: %d arcs, want %d", step, got, want)
		}
	}
	g.Update(func() {
		for _, f := range slices.Concat(watches, tellers) {
			known.RemoveWatch(f)
		}
		for _, f := range watches {
			g.RemoveSource(f.id)
		}
	})
	for g.HasCleanup() {
		g.Update(func() {})
	}
	if size := g.Size(); len(known.all) > 0 || size != (graph.Size{}) {
		t.Errorf("%d releases and %+v are left", len(known.all), size)
	}
}
