package helm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestReleasesDifferential adds, changes and deletes Secrets and managed objects at random, from
// several watches each. The graph has the arcs of the newest deployed revisions.
func TestReleasesDifferential(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	g, known := newReleases()
	secrets, tellers := []*source{new(source), new(source)}, []*source{new(source), new(source)}
	announce := func(f *source) {
		f.id = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
	}
	g.Update(func() {
		for _, f := range secrets {
			announce(f)
		}
	})
	const names, numbers = 2, 3
	type revision struct{ name, number int }
	// held and told are the model: what each watch has of each revision.
	held, told := map[*source]map[revision]bool{}, map[*source]map[revision]*Managed{}
	for i := range secrets {
		held[secrets[i]], told[tellers[i]] = map[revision]bool{}, map[revision]*Managed{}
	}
	version := uint64(0)
	for step := range 5000 {
		at := revision{r.IntN(names), 1 + r.IntN(numbers)}
		secret := secretName(fmt.Sprint("r", at.name), uint64(at.number))
		which := r.IntN(len(secrets))
		f, teller := secrets[which], tellers[which]
		version++
		g.Update(func() {
			switch r.IntN(12) {
			case 0:
				known.RemoveWatch(f)
				g.RemoveSource(f.id)
				announce(f)
				clear(held[f])
			case 1:
				known.RemoveWatch(teller)
				clear(told[teller])
			case 2, 3:
				g.Remove(f.id, "ns", secret)
				known.DeleteObject(f, false, "ns", secret)
				delete(held[f], at)
			case 4, 5:
				known.SetManaged(teller, "ns", secret, nil)
				delete(told[teller], at)
			case 6, 7, 8:
				o := &graph.Object{Namespace: "ns", Name: secret, Version: version, Hash: version}
				known.SetObject(f, false, o, nil)
				g.Set(f.id, o)
				held[f][at] = true
			default:
				m := &Managed{Version: version, Hash: version | 1<<40, Deployed: r.IntN(3) > 0}
				for i := range r.IntN(4) {
					m.References = append(m.References, graph.Reference{
						Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: fmt.Sprint(secret, i), Field: Field,
					})
				}
				known.SetManaged(teller, "ns", secret, m)
				told[teller][at] = m
			}
		})
		want := 0
		for name := range names {
			for number := numbers; number > 0; number-- {
				at := revision{name, number}
				var latest *Managed
				for _, f := range tellers {
					if m := told[f][at]; m != nil && (latest == nil || m.Version > latest.Version) {
						latest = m
					}
				}
				if latest == nil || !latest.Deployed {
					continue
				}
				if slices.ContainsFunc(secrets, func(f *source) bool { return held[f][at] }) {
					want += len(latest.References)
				}
				break
			}
		}
		if got := g.Size().Arcs; got != want {
			t.Fatalf("step %d: %d arcs, want %d", step, got, want)
		}
	}
	g.Update(func() {
		for i := range secrets {
			known.RemoveWatch(secrets[i])
			g.RemoveSource(secrets[i].id)
			known.RemoveWatch(tellers[i])
		}
	})
	for g.HasCleanup() {
		g.Update(func() {})
	}
	if size := g.Size(); len(known.all) > 0 || size != (graph.Size{}) {
		t.Errorf("%d releases and %+v are left", len(known.all), size)
	}
}

// TestUpgradeOfARelease: in each revision of the graph, one revision of the release refers to
// the objects that all of them manage, and a superseded one does not, whichever of the two
// watches of Secrets is ahead.
func TestUpgradeOfARelease(t *testing.T) {
	for _, secretsFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("secrets first ", secretsFirst), func(t *testing.T) {
			g, known := newReleases()
			secrets, teller := new(source), new(source)
			version := uint64(0)
			referrers := func() (names []string) {
				for _, of := range known.all {
					for number, at := range of.revisions {
						if at == of.newest() && len(at.objects) > 0 {
							names = append(names, fmt.Sprint("v", number))
						}
					}
				}
				return names
			}
			g.Update(func() {
				secrets.id = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
			})
			mark := func(number uint64, status string) (wants []string) {
				version++
				name := secretName("web", number)
				hold := func() {
					o := &graph.Object{Namespace: "ns", Name: name, Version: version, Hash: version, Labels: map[string]string{"status": status}}
					known.SetObject(secrets, false, o, nil)
					g.Set(secrets.id, o)
				}
				tell := func() {
					var m *Managed
					if !Ended(map[string]string{"status": status}) {
						m = &Managed{Version: version, Hash: 1 << 40, Deployed: status == "deployed", Pending: status != "deployed", References: []graph.Reference{
							{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: "a", Field: Field},
						}}
					}
					known.SetManaged(teller, "ns", name, m)
				}
				steps := []func(){hold, tell}
				if !secretsFirst {
					slices.Reverse(steps)
				}
				for _, step := range steps {
					g.Update(step)
					wants = append(wants, referrers()...)
					if n := g.Size().Arcs; version > 1 && n != 1 {
						t.Errorf("v%d %s: %d arcs", number, status, n)
					}
				}
				return wants
			}
			var got []string
			for _, step := range []struct {
				number uint64
				status string
			}{{1, "deployed"}, {2, "pending-upgrade"}, {1, "superseded"}, {2, "deployed"}, {3, "pending-upgrade"}, {3, "failed"}, {4, "pending-rollback"}, {2, "superseded"}, {4, "deployed"}} {
				if who := slices.Compact(mark(step.number, step.status)); len(who) > 0 {
					got = append(got, fmt.Sprintf("%d %s: %v", step.number, step.status, who))
				}
			}
			want := []string{
				"1 deployed: [v1]", "2 pending-upgrade: [v1]", "1 superseded: [v2]", "2 deployed: [v2]",
				"3 pending-upgrade: [v2]", "3 failed: [v2]", "4 pending-rollback: [v2]", "2 superseded: [v4]", "4 deployed: [v4]",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("revisions that refer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleaseInConfigMaps: the newest deployed revision in a ConfigMap refers to its managed
// objects, or the newest pending one. A Secret of the same name is another release.
func TestReleaseInConfigMaps(t *testing.T) {
	g, known := newReleases()
	maps := new(source)
	secrets := new(source)
	g.Update(func() {
		maps.id = g.AddSource(graph.Kind{Kind: "ConfigMap"}, graph.Resource{Version: "v1", Resource: "configmaps"}, graph.ScopeNamespaced)
		secrets.id = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
	})
	version := uint64(0)
	put := func(number uint64, status string) {
		version++
		o := &graph.Object{Namespace: "ns", Name: secretName("web", number), Version: version, Hash: version}
		var m *Managed
		if status == "deployed" || status == "pending" {
			m = &Managed{Deployed: status == "deployed", Pending: status == "pending", References: []graph.Reference{
				{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: fmt.Sprint("p", number), Field: Field},
			}}
		}
		known.SetObject(maps, true, o, m)
		g.Set(maps.id, o)
	}
	for name, step := range []struct {
		do   func()
		want uint64 // the revision that refers
	}{
		{func() { put(1, "deployed") }, 1},
		{func() { put(2, "pending") }, 1},
		{func() {
			o := &graph.Object{Namespace: "ns", Name: secretName("web", 3), Version: 1, Hash: 1}
			known.SetObject(secrets, false, o, nil)
			g.Set(secrets.id, o)
		}, 1},
		{func() { put(1, "superseded") }, 2},
		{func() { put(2, "deployed") }, 2},
		{func() { put(3, "pending"); put(3, "failed") }, 2},
		{func() { put(2, "superseded") }, 0},
		{func() { put(4, "deployed") }, 4},
		{func() {
			g.Remove(maps.id, "ns", secretName("web", 4))
			known.DeleteObject(maps, true, "ns", secretName("web", 4))
		}, 0},
	} {
		g.Update(step.do)
		want := 0
		if at := known.all[releaseName{configMaps: true, namespace: "ns", name: "web"}].newest(); step.want > 0 {
			want = 1
			if m := at.latest(); m == nil || m.References[0].Name != fmt.Sprint("p", step.want) {
				t.Fatalf("step %d: %+v refers, want revision %d", name, m, step.want)
			}
		}
		if got := g.Size().Arcs; got != want {
			t.Fatalf("step %d: %d references, want %d", name, got, want)
		}
	}
	g.Update(func() {
		for _, f := range []*source{maps, secrets} {
			known.RemoveWatch(f)
			g.RemoveSource(f.id)
		}
	})
	if len(known.all) > 0 {
		t.Errorf("%d releases are left", len(known.all))
	}
}
