//go:build !race

package graph

import (
	"fmt"
	"math"
	"testing"
)

// TestLargeChangesAreMadeInSlices: a change of one object that changes thousands of arcs beside
// many lenses is made in revisions with bounded visits, with the same result as one revision.
func TestLargeChangesAreMadeInSlices(t *testing.T) {
	const pods, lenses, most = 3_000, 40, 2*sliceVisits*sliceChanges + 1_000
	hub := func(key string) Object {
		return Object{Namespace: "shop", Name: "hub", Hash: 1, References: []Reference{{
			Type: Direct, To: podKind, AllNamespaces: true, Field: "spec",
			Selector:   &Selector{Requirements: []Requirement{{Key: key, Op: Exists}}},
			Namespaces: &Selector{Requirements: []Requirement{{Key: "open", Op: Exists}}},
		}}}
	}
	namespace := func(label string, version uint64) Object {
		return Object{Name: "shop", Version: version, Labels: map[string]string{label: "yes"}}
	}
	g := New(nil)
	var podSource, mapSource, spaceSource SourceID
	var all []*Lens
	set := func(source SourceID, o Object) {
		id := g.Set(source, &o)
		for _, l := range all {
			l.Select(id, Selection{Member: true})
		}
	}
	g.Update(func() {
		podSource = g.AddSource(podKind, podsV1, ScopeNamespaced)
		mapSource = g.AddSource(mapKind, mapsV1, ScopeNamespaced)
		spaceSource = g.AddSource(NamespaceKind, namespacesV1, ScopeCluster)
		for range lenses {
			l := g.NewLens()
			for _, id := range []SourceID{podSource, mapSource, spaceSource} {
				l.Watch(id)
			}
			l.Use(podKind, podsV1)
			l.Use(mapKind, mapsV1)
			l.Use(NamespaceKind, namespacesV1)
			all = append(all, l)
		}
		for i := range pods {
			set(podSource, Object{Namespace: "shop", Name: fmt.Sprint("p", i), Labels: map[string]string{"app": "web", "tier": fmt.Sprint(i % 7)}})
		}
		set(spaceSource, namespace("open", 1))
	})
	clients := []*client{{picture: newPicture()}, {picture: newPicture()}}
	version := uint64(3)
	selects := func(key string) {
		version++
		o := hub(key)
		o.Version, o.Hash = version, version
		set(mapSource, o)
	}
	const large = pods * lenses / most
	for _, tt := range []struct { // one after the other, on one graph
		name        string
		change      func()
		wantArcs    int
		wantAtLeast int // revisions
	}{
		{"a hub comes", func() { selects("app") }, pods, large},
		{"it has another selector that matches the same", func() { selects("tier") }, pods, 1},
		{"its namespace has another label", func() { set(spaceSource, namespace("closed", 2)) }, 0, large},
		{"and the first again", func() { set(spaceSource, namespace("open", 3)) }, pods, large},
		{"a selector that matches nothing", func() { selects("none") }, 0, large},
		{"one that matches more than it may", func() { g.limit(math.MaxInt, pods/2); selects("app") }, 0, 1},
		{"nothing again", func() { selects("none") }, 0, 1},
		{"one that matches as much as it may", func() { g.limit(math.MaxInt, pods); selects("tier") }, pods, large},
		{"one object too many", func() {
			set(podSource, Object{Namespace: "shop", Name: "more", Labels: map[string]string{"tier": "1"}})
		}, 0, large},
	} {
		revisions := 0
		for fn := tt.change; revisions == 0 || g.HasCleanup(); fn = func() {} {
			g.Update(fn)
			revisions++
			if visits := g.Visits(); visits > most {
				t.Errorf("%s: %d visits in revision %d, want at most %d", tt.name, visits, revisions, most)
			}
			if all[0].Committing() == nil {
				clients[0].read(t, all[0], 1<<20)
			}
		}
		if revisions < tt.wantAtLeast {
			t.Errorf("%s: %d revisions, want at least %d", tt.name, revisions, tt.wantAtLeast)
		}
		for _, c := range clients {
			c.read(t, all[0], 1<<20)
			if len(c.arcs) != tt.wantArcs || all[0].arcs != tt.wantArcs {
				t.Errorf("%s: %d arcs, of %d, want %d", tt.name, len(c.arcs), all[0].arcs, tt.wantArcs)
			}
		}
		if got := g.nodes.at(nodeID(g.Find(mapSource, "shop", "hub"))).holder; got != nil && got.matches != tt.wantArcs {
			t.Errorf("%s: %d matches are counted, want %d", tt.name, got.matches, tt.wantArcs)
		}
	}
}
