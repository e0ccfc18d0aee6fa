package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceWithoutNamespace: a cluster-scoped object names an object of a kind with unknown
// scope. If the kind turns out to be namespaced there is no arc; if it is cluster-scoped there is
// one.
func TestReferenceWithoutNamespace(t *testing.T) {
	gadget := Kind{"example.com", "Gadget"}
	gadgets := Resource{"example.com", "v1", "gadgets"}
	newer := Resource{"example.com", "v2", "gadgets"}
	node := Key{Resource: nodesV1, Name: "n"}
	arc := func(to Resource) string { return arcName(node, Key{Resource: to, Name: "a"}, Direct) }
	for name, tt := range map[string]struct {
		scopes []Scope
		want   []string // after each
	}{
		"namespaced":                             {scopes: []Scope{ScopeNamespaced}, want: []string{""}},
		"of the cluster":                         {scopes: []Scope{ScopeCluster}, want: []string{arc(gadgets)}},
		"of the cluster, then made again as not": {scopes: []Scope{ScopeCluster, ScopeNamespaced}, want: []string{arc(gadgets), ""}},
		"namespaced, then made again as not":     {scopes: []Scope{ScopeNamespaced, ScopeCluster}, want: []string{"", arc(newer)}},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(nil)
			var l *Lens
			g.Update(func() {
				l = g.NewLens()
				nodes := watched(l, nodeKind, nodesV1, ScopeCluster)
				l.Select(g.Set(nodes, &Object{Name: "n", Version: 1, References: []Reference{{Type: Direct, To: gadget, Name: "a", Field: "f"}}}), Selection{Member: true})
			})
			c := &client{picture: newPicture()}
			var before SourceID
			for i, scope := range tt.scopes {
				resource := [...]Resource{gadgets, newer}[i]
				g.Update(func() {
					if before != 0 {
						l.Unwatch(before)
						l.Unuse(gadget)
						g.RemoveSource(before)
					}
					before = watched(l, gadget, resource, scope)
				})
				for !c.read(t, l, 1<<20) {
				}
				got := ""
				for name := range c.arcs {
					got += name
				}
				if diff := cmp.Diff(tt.want[i], got); diff != "" {
					t.Errorf("arcs with %v (-want +got):\n%s", scope, diff)
				}
				if want := len(c.arcs); l.Counts().Arcs != want {
					t.Errorf("%d arcs are counted, %d are sent", l.Counts().Arcs, want)
				}
			}
		})
	}
}

// TestKindBecomesNamespaced: when a cluster-scoped kind becomes namespaced, Misplaced returns the objects that refer
// to it, once and no others. Read again, they refer to the object in their own namespace.
func TestKindBecomesNamespaced(t *testing.T) {
	gadget, gadgets := Kind{"example.com", "Gadget"}, Resource{"example.com", "v1", "gadgets"}
	reference := Reference{Type: Direct, To: gadget, Namespace: "shop", Name: "a", Field: "spec.gadget"}
	holder := Object{Namespace: "shop", Name: "holder", Version: 1, References: []Reference{reference}}
	other := Object{Namespace: "shop", Name: "other", Version: 1, References: []Reference{{Type: Direct, To: podKind, Namespace: "shop", Name: "a", Field: "f"}}}
	gone := Object{Namespace: "shop", Name: "gone", Version: 1, References: []Reference{reference}}
	g := New(nil)
	var l *Lens
	var pods, before SourceID
	set := func(id SourceID, o Object) { l.Select(g.Set(id, &o), Selection{Member: true}) }
	use := func(scope Scope) SourceID { return watched(l, gadget, gadgets, scope) }
	g.Update(func() {
		l = g.NewLens()
		pods = watched(l, podKind, podsV1, ScopeNamespaced)
		before = use(ScopeCluster)
		set(before, Object{Name: "a", Version: 1})
		for _, o := range []Object{holder, other, gone} {
			set(pods, o)
		}
		if first := g.Misplaced(); len(first) > 0 {
			t.Errorf("misplaced at first: %v", first)
		}
	})
	g.Update(func() {
		l.Unwatch(before)
		l.Unuse(gadget)
		g.RemoveSource(before)
		g.Remove(pods, "shop", "gone")
	})
	g.drain()
	g.Update(func() {
		set(use(ScopeNamespaced), Object{Namespace: "shop", Name: "a", Version: 2})
		want := []Unread{{Sources: []SourceID{pods}, Namespace: "shop", Name: "holder"}}
		if diff := cmp.Diff(want, g.Misplaced()); diff != "" {
			t.Errorf("misplaced (-want +got):\n%s", diff)
		}
		if again := g.Misplaced(); len(again) > 0 {
			t.Errorf("read again twice: %v", again)
		}
	})
	g.Update(func() { set(pods, holder) })
	c := &client{picture: newPicture()}
	for !c.read(t, l, 1<<20) {
	}
	arc := arcName(Key{Resource: podsV1, Namespace: "shop", Name: "holder"}, Key{Resource: gadgets, Namespace: "shop", Name: "a"}, Direct)
	if _, ok := c.arcs[arc]; !ok || g.Awaits(g.Find(pods, "shop", "holder")) {
		t.Errorf("the arcs are %v, want %s; still to be read: %t", c.arcs, arc, g.Awaits(g.Find(pods, "shop", "holder")))
	}
}
