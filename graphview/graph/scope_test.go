package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceWithoutNamespace: an object without a namespace names an object of
// a kind of which nobody knows yet whether it has namespaces. Once it is known
// that it has, the name is nobody's; that it has none, there is an arc.
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
			g := New()
			var l *Lens
			g.Update(func() {
				l = g.NewLens()
				nodes := g.AddSource(nodeKind, nodesV1, ScopeCluster)
				l.Watch(nodes)
				l.Use(nodeKind, nodesV1)
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
					before = g.AddSource(gadget, resource, scope)
					l.Watch(before)
					l.Use(gadget, resource)
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
