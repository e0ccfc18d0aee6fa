package main

import "testing"

func TestShapeOf(t *testing.T) {
	for name, c := range map[string]struct {
		objects, applications, pods int
		want                        shape
		wantPods, wantNodes         int
		wantObjects                 int
	}{
		"the usual load":         {13_000, 50, 20, shape{10, 50, 20}, 10_000, 100, 13_110},
		"a large one":            {111_700, 50, 20, shape{86, 50, 20}, 86_000, 860, 112_746},
		"less than a namespace":  {260, 50, 20, shape{1, 10, 20}, 200, 2, 263},
		"less than one of all":   {1, 50, 20, shape{1, 1, 20}, 20, 1, 28},
		"rounded to a namespace": {2000, 50, 20, shape{2, 50, 20}, 2000, 20, 2622},
	} {
		t.Run(name, func(t *testing.T) {
			s := shapeOf(c.objects, c.applications, c.pods)
			if s != c.want {
				t.Fatalf("shape %+v, want %+v", s, c.want)
			}
			if s.allPods() != c.wantPods || s.nodes() != c.wantNodes || s.objects() != c.wantObjects {
				t.Errorf("%d pods, %d nodes, %d objects, want %d, %d, %d", s.allPods(), s.nodes(), s.objects(), c.wantPods, c.wantNodes, c.wantObjects)
			}
		})
	}
}
