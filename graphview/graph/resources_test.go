package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResourcesAreDroppedWithTheirObjects installs and removes custom resources, one after
// the other, that a view watches and objects refer to.
func TestResourcesAreDroppedWithTheirObjects(t *testing.T) {
	c := newCrowd(0, 1)
	var l *Lens
	c.change(func() {
		l = c.newLens()
		c.selects(l, c.pods, "p0")
	})
	var before Size
	for i := range 50 {
		kind := Kind{Group: "example.com", Kind: fmt.Sprint("Widget", i)}
		resource := Resource{Group: "example.com", Version: "v1", Resource: fmt.Sprint("widgets", i)}
		var widgets SourceID
		c.change(func() {
			widgets = watched(l, kind, resource, ScopeNamespaced)
			c.set(widgets, Object{Namespace: "shop", Name: "w"})
			c.selects(l, widgets, "w")
			c.set(c.pods, Object{Namespace: "shop", Name: "p0", References: []Reference{{Type: Direct, To: kind, Namespace: "shop", Name: "w"}}})
		})
		if l.Counts().Arcs != 1 {
			t.Fatalf("the view shows %d arcs, want that to the widget", l.Counts().Arcs)
		}
		c.change(func() {
			c.set(c.pods, Object{Namespace: "shop", Name: "p0"})
			c.g.RemoveSource(widgets)
			l.Unuse(kind)
		})
		c.change(func() { l.Forget(l.Head()) }) // the tombstones of the widget and its arc
		if i == 0 {
			before = c.g.Size()
		} else if diff := cmp.Diff(before, c.g.Size()); diff != "" {
			t.Fatalf("resource %d left something behind (-want +got):\n%s", i, diff)
		}
	}
}
