package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestInferredOutside: an inferred reference to an object that the view does not select says
// outside, and makes no arc once the object is deleted.
func TestInferredOutside(t *testing.T) {
	g, l, source := newPods()
	guessed := Reference{To: podKind, Namespace: "shop", Name: "b", Type: Direct, Field: "inferred/key", Inferred: true, Optional: true}
	g.Update(func() {
		l.Cover(podKind, Coverage{Selective: true})
		l.Select(g.Set(source, &Object{Namespace: "shop", Name: "a", Version: 1, Hash: 1, References: []Reference{guessed}}), Selection{Member: true, Hash: 1})
	})
	c := &client{picture: newPicture()}
	arc := arcName(Key{podsV1, "shop", "a"}, Key{podsV1, "shop", "b"}, Direct)
	for _, step := range []struct {
		name   string
		change func()
		want   map[string]string
	}{
		{"absent", func() {}, nil},
		{"outside the view", func() { g.Set(source, &Object{Namespace: "shop", Name: "b", Version: 2, Hash: 1}) }, map[string]string{arc: "false false true [inferred/key] missing outside"}},
		{"a view without inferred references", func() { l.SetInferred(false) }, nil},
		{"with them again", func() { l.SetInferred(true) }, map[string]string{arc: "false false true [inferred/key] missing outside"}},
		{"deleted", func() { g.Remove(source, "shop", "b") }, nil},
	} {
		g.Update(step.change)
		c.read(t, l, 100)
		if diff := cmp.Diff(step.want, c.arcs, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: arcs (-want +got):\n%s", step.name, diff)
		}
		if n := l.Missing(); n != 0 {
			t.Errorf("%s: %d references are missing", step.name, n)
		}
	}
}
