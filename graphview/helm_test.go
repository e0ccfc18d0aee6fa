package graphview

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/resources"
	"graphview.dev/test/seed"
)

// TestReleasesDifferential has Secrets and what their releases manage come, change
// and go at random, by several watches each, and wants the graph to have the arcs
// of the newest revisions that are deployed.
func TestReleasesDifferential(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	g, known := graph.New(), make(releases)
	secrets, tellers := []*feed{feedOfSecrets(), feedOfSecrets()}, []*feed{feedOfSecrets(), feedOfSecrets()}
	announce := func(f *feed) {
		f.source = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
	}
	g.Update(func() {
		for _, f := range secrets {
			announce(f)
		}
	})
	const names, numbers = 2, 3
	type revision struct{ name, number int }
	// held and told are the model: what each watch has of each revision.
	held, told := map[*feed]map[revision]bool{}, map[*feed]map[revision]*managed{}
	for i := range secrets {
		held[secrets[i]], told[tellers[i]] = map[revision]bool{}, map[revision]*managed{}
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
				known.drop(g, f)
				g.RemoveSource(f.source)
				announce(f)
				clear(held[f])
			case 1:
				known.drop(g, teller)
				clear(told[teller])
			case 2, 3:
				g.Remove(f.source, "ns", secret)
				known.change(g, "ns", secret, func(at *releaseSecret) { delete(at.held, f) })
				delete(held[f], at)
			case 4, 5:
				known.change(g, "ns", secret, func(at *releaseSecret) { delete(at.told, teller) })
				delete(told[teller], at)
			case 6, 7, 8:
				o := &graph.Object{Namespace: "ns", Name: secret, Version: version, Hash: version}
				known.hold(g, f, o, nil)
				g.Set(f.source, o)
				held[f][at] = true
			default:
				m := &managed{version: version, hash: version | 1<<40, deployed: r.IntN(3) > 0}
				for i := range r.IntN(4) {
					m.references = append(m.references, graph.Reference{
						Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: fmt.Sprint(secret, i), Field: helm.Field,
					})
				}
				known.change(g, "ns", secret, func(at *releaseSecret) { at.told[teller] = m })
				told[teller][at] = m
			}
		})
		want := 0
		for name := range names {
			for number := numbers; number > 0; number-- {
				at := revision{name, number}
				var latest *managed
				for _, f := range tellers {
					if m := told[f][at]; m != nil && (latest == nil || m.version > latest.version) {
						latest = m
					}
				}
				if latest == nil || !latest.deployed {
					continue
				}
				if slices.ContainsFunc(secrets, func(f *feed) bool { return held[f][at] }) {
					want += len(latest.references)
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
			known.drop(g, secrets[i])
			g.RemoveSource(secrets[i].source)
			known.drop(g, tellers[i])
		}
	})
	for g.Pending() {
		g.Update(func() {})
	}
	if size := g.Size(); len(known) > 0 || size != (graph.Size{}) {
		t.Errorf("%d releases and %+v are left", len(known), size)
	}
}

// TestUpgradeOfARelease: whichever of the two watches of Secrets is ahead, there is no
// revision of the graph in which nobody refers to what both revisions of a release
// manage, and who is marked as superseded does so no longer.
func TestUpgradeOfARelease(t *testing.T) {
	for _, secretsFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("secrets first ", secretsFirst), func(t *testing.T) {
			g, known := graph.New(), make(releases)
			secrets, teller := feedOfSecrets(), feedOfSecrets()
			version := uint64(0)
			referrers := func() (names []string) {
				for _, of := range known {
					for number, at := range of.revisions {
						if at == of.newest() && len(at.held) > 0 {
							names = append(names, fmt.Sprint("v", number))
						}
					}
				}
				return names
			}
			g.Update(func() {
				secrets.source = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
			})
			mark := func(number uint64, status string) (wants []string) {
				version++
				name := secretName("web", number)
				hold := func() {
					o := &graph.Object{Namespace: "ns", Name: name, Version: version, Hash: version, Labels: map[string]string{"status": status}}
					known.hold(g, secrets, o, nil)
					g.Set(secrets.source, o)
				}
				tell := func() {
					known.change(g, "ns", name, func(at *releaseSecret) {
						if delete(at.told, teller); !helm.Ended(map[string]string{"status": status}) {
							at.told[teller] = &managed{version: version, hash: 1 << 40, deployed: status == "deployed", pending: status != "deployed", references: []graph.Reference{
								{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: "a", Field: helm.Field},
							}}
						}
					})
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
				t.Errorf("who refers to what is managed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleaseInConfigMaps: of a release in ConfigMaps, as of one in Secrets, the newest
// revision that is deployed refers to what it manages, or the newest that is about to be;
// a Secret of the same name is another release.
func TestReleaseInConfigMaps(t *testing.T) {
	g, known := graph.New(), make(releases)
	maps := &feed{resource: resources.Resource{Version: "v1", Resource: "configmaps", Kind: "ConfigMap"}}
	secrets := feedOfSecrets()
	g.Update(func() {
		maps.source = g.AddSource(graph.Kind{Kind: "ConfigMap"}, graph.Resource{Version: "v1", Resource: "configmaps"}, graph.ScopeNamespaced)
		secrets.source = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
	})
	version := uint64(0)
	put := func(number uint64, status string) {
		version++
		o := &graph.Object{Namespace: "ns", Name: secretName("web", number), Version: version, Hash: version}
		var m *managed
		if status == "deployed" || status == "pending" {
			m = &managed{deployed: status == "deployed", pending: status == "pending", references: []graph.Reference{
				{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: fmt.Sprint("p", number), Field: helm.Field},
			}}
		}
		known.hold(g, maps, o, m)
		g.Set(maps.source, o)
	}
	for name, step := range []struct {
		do   func()
		want uint64 // the revision that refers
	}{
		{func() { put(1, "deployed") }, 1},
		{func() { put(2, "pending") }, 1},
		{func() {
			o := &graph.Object{Namespace: "ns", Name: secretName("web", 3), Version: 1, Hash: 1}
			known.hold(g, secrets, o, nil)
			g.Set(secrets.source, o)
		}, 1},
		{func() { put(1, "superseded") }, 2},
		{func() { put(2, "deployed") }, 2},
		{func() { put(3, "pending"); put(3, "failed") }, 2},
		{func() { put(2, "superseded") }, 0},
		{func() { put(4, "deployed") }, 4},
		{func() {
			g.Remove(maps.source, "ns", secretName("web", 4))
			known.forget(g, maps, "ns", secretName("web", 4))
		}, 0},
	} {
		g.Update(step.do)
		want := 0
		if at := known[releaseName{configMaps: true, namespace: "ns", name: "web"}].newest(); step.want > 0 {
			want = 1
			if m := at.latest(); m == nil || m.references[0].Name != fmt.Sprint("p", step.want) {
				t.Fatalf("step %d: %+v refers, want revision %d", name, m, step.want)
			}
		}
		if got := g.Size().Arcs; got != want {
			t.Fatalf("step %d: %d references, want %d", name, got, want)
		}
	}
	g.Update(func() {
		for _, f := range []*feed{maps, secrets} {
			known.drop(g, f)
			g.RemoveSource(f.source)
		}
	})
	if len(known) > 0 {
		t.Errorf("%d releases are left", len(known))
	}
}

// secretName is how Helm names the Secret of a release's revision.
func secretName(release string, number uint64) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release, number)
}

// TestEndOfOtherFeed: the end of a feed of neither Secrets nor ConfigMaps looks at no
// release.
func TestEndOfOtherFeed(_ *testing.T) {
	all := releases{{namespace: "shop", name: "web"}: nil} // to look at it is to panic
	all.drop(graph.New(), &feed{resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}})
}

func feedOfSecrets() *feed {
	return &feed{resource: resources.Resource{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}}
}
