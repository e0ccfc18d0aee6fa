package graph

import "testing"

// TestUnseen: of the objects outside the view that refer to a vertex, those count that the reader may see.
func TestUnseen(t *testing.T) {
	g, l, source := newPods()
	g.Update(func() {
		l.Select(g.Set(source, &Object{Namespace: "shop", Name: "a", Version: 1, Hash: 1}), Selection{Member: true, Hash: 1})
		to := []Reference{{To: podKind, Namespace: "shop", Name: "a", Type: Direct, Field: "name"}}
		g.Set(source, &Object{Namespace: "shop", Name: "b", Version: 1, Hash: 1, References: to})
		g.Set(source, &Object{Namespace: "other", Name: "c", Version: 1, Hash: 1, References: to})
	})
	for name, test := range map[string]struct {
		allow func(Resource, string) bool
		want  int
	}{
		"all":              {nil, 2},
		"one namespace":    {func(_ Resource, namespace string) bool { return namespace == "shop" }, 1},
		"another is added": {func(_ Resource, namespace string) bool { return namespace == "shop" || namespace == "else" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			seen, ok := l.Look(Key{podsV1, "shop", "a"}, 10, Reading{Allow: test.allow})
			if !ok || seen.Unseen != test.want {
				t.Errorf("%d unseen, found %v, want %d", seen.Unseen, ok, test.want)
			}
		})
	}
}
