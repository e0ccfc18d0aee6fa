package helm

import (
	"testing"

	"graphview.dev/graphview/graph"
)

// TestManyRevisionsOfARelease: a tenant can create any number of Secrets that are named like
// revisions of a release. The search for the newest revision skips those without managed objects,
// and the end of a watch changes a release once.
func TestManyRevisionsOfARelease(t *testing.T) {
	const revisions = 5_000
	g, known := newReleases()
	secrets, others, teller := new(source), new(source), new(source)
	pod := []graph.Reference{{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "ns", Name: "a", Field: Field}}
	g.Update(func() {
		for _, f := range []*source{secrets, others} {
			f.id = g.AddSource(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}, graph.ScopeNamespaced)
			for number := uint64(1); number <= revisions; number++ {
				o := &graph.Object{Namespace: "ns", Name: secretName("web", number), Version: 1, Hash: 1}
				known.SetObject(f, false, o, nil)
				g.Set(f.id, o)
			}
		}
	})
	of := known.all[releaseName{namespace: "ns", name: "web"}]
	ranked := func() int { return len(of.ranked) }
	if len(of.revisions) != revisions || ranked() != 0 {
		t.Fatalf("%d revisions are held, %d may be the newest", len(of.revisions), ranked())
	}
	tell := func(number uint64) {
		known.SetManaged(teller, "ns", secretName("web", number), &Managed{Version: 1, Hash: 1 << 40, Deployed: true, References: pod})
	}
	g.Update(func() { tell(revisions / 2) })
	if at := of.newest(); at != of.revisions[revisions/2] || ranked() != 1 {
		t.Errorf("the newest is %v, of %d that may be", at, ranked())
	}
	if n := testing.AllocsPerRun(10, func() { of.newest() }); n > 0 {
		t.Errorf("%v allocations to find the newest", n)
	}
	g.Update(func() {
		for number := uint64(1); number <= 500; number++ {
			tell(number)
		}
	})
	for _, step := range []struct {
		name string
		feed *source
		most int // visits: a Secret and its reference, for each watch of Secrets that is left
	}{
		{"one of two watches of Secrets", others, 2},
		{"the watch of releases", teller, 2},
		{"the other watch of Secrets", secrets, 0},
	} {
		visits := 0
		g.Update(func() {
			known.RemoveWatch(step.feed)
			visits = g.Visits()
		})
		if visits > step.most {
			t.Errorf("%s goes: %d visits, want at most %d", step.name, visits, step.most)
		}
	}
	if len(known.all) != 0 {
		t.Errorf("%d releases are left", len(known.all))
	}
}

// TestManyDeployedRevisions: a tenant can label any number of revisions as deployed. An event
// does not look at the others to find the newest.
func TestManyDeployedRevisions(t *testing.T) {
	const revisions = 20_000
	g, known := newReleases()
	teller := new(source)
	change := func(number uint64, m *Managed) { known.SetManaged(teller, "ns", secretName("web", number), m) }
	newest := func() (number uint64) {
		if at := known.all[releaseName{namespace: "ns", name: "web"}].newest(); at != nil {
			number = at.number
		}
		return number
	}
	g.Update(func() {
		for n := range uint64(revisions) {
			number := 1 + n*7919%revisions // each once, in no order
			change(number, &Managed{Version: 1, Deployed: number%2 == 0, Pending: number%2 == 1})
		}
		of := known.all[releaseName{namespace: "ns", name: "web"}]
		if n := testing.AllocsPerRun(10, func() { of.newest() }); n > 0 {
			t.Errorf("%v allocations to find the newest", n)
		}
		for number := uint64(revisions); number > 0; number -= 2 {
			if got := newest(); got != number {
				t.Fatalf("the newest is %d, want %d", got, number)
			}
			change(number, nil)
		}
		for number := uint64(revisions - 1); number > 1; number -= 2 {
			if got := newest(); got != number {
				t.Fatalf("while none is deployed, the newest is %d, want %d", got, number)
			}
			change(number, nil)
		}
		change(1, nil)
	})
	if len(known.all) != 0 {
		t.Errorf("%d releases are left", len(known.all))
	}
}
