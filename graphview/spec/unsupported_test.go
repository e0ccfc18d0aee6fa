package spec

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
)

// TestRootsAndTheirWay: a program has the way from the roots, and a spec with a value that only another
// version may know is refused with each of these values.
func TestRootsAndTheirWay(t *testing.T) {
	all := []v1alpha1.Expression{"true"}
	for name, test := range map[string]struct {
		roots    *v1alpha1.Roots
		inferred v1alpha1.InferredReferences
		want     graph.Walk
		wantErrs []string // without their ends
	}{
		"no roots": {inferred: v1alpha1.IncludeInferred},
		"roots without selectors restrict nothing": {
			roots: &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{}, Follow: &v1alpha1.Follow{Direction: v1alpha1.DirectionUp}},
		},
		"against some arcs": {
			roots:    &v1alpha1.Roots{ObjectSelectorExpressions: all, IgnoreArcDirection: []v1alpha1.ArcType{v1alpha1.ArcTypeOwnerReference, v1alpha1.ArcTypeReference, v1alpha1.ArcTypeTransitive}},
			inferred: v1alpha1.ExcludeInferred,
			want:     graph.Walk{Against: []graph.ArcType{graph.OwnerReference, graph.Direct, graph.Transitive}},
		},
		"up": {
			roots: &v1alpha1.Roots{ObjectSelectorExpressions: all, Follow: &v1alpha1.Follow{Direction: v1alpha1.DirectionUp, Depth: 3, Types: []v1alpha1.ArcType{"or"}}},
			want:  graph.Walk{Direction: graph.Up, Depth: 3, Types: []graph.ArcType{graph.OwnerReference}},
		},
		"two ways": {
			roots:    &v1alpha1.Roots{ObjectSelectorExpressions: all, IgnoreArcDirection: []v1alpha1.ArcType{"or"}, Follow: &v1alpha1.Follow{Direction: v1alpha1.DirectionUp}},
			wantErrs: []string{"spec.roots: follow and ignoreArcDirection exclude each other"},
		},
		"too far": {
			roots:    &v1alpha1.Roots{ObjectSelectorExpressions: all, Follow: &v1alpha1.Follow{Direction: v1alpha1.DirectionUp, Depth: graph.MaxDepth + 1}},
			wantErrs: []string{"spec.roots.follow.depth: must be between 0 and 64"},
		},
		"unknown values": {
			roots:    &v1alpha1.Roots{ObjectSelectorExpressions: all, Follow: &v1alpha1.Follow{Direction: "up", Types: []v1alpha1.ArcType{"or", "x"}}},
			inferred: "Mark",
			wantErrs: []string{
				`spec.inferredReferences: must be Include or Exclude, is "Mark"`,
				`spec.roots.follow.direction: unknown direction "up", expected Down, Up or Both`,
				`spec.roots.follow.types[1]: unknown reference type "x", expected or, r or t`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			declared := v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}}, Roots: test.roots, InferredReferences: test.inferred}
			p, err := Compile(t.Context(), nil, declared)
			var got []string
			if invalid, ok := errors.AsType[*InvalidError](err); ok {
				if invalid.Reason != v1alpha1.ReasonUnsupported {
					t.Errorf("reason %s", invalid.Reason)
				}
				got = invalid.Texts()
			}
			want := slices.Clone(test.wantErrs)
			for i := range want {
				want[i] += "; change the spec, or upgrade the operator"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("errors (-want +got):\n%s", diff)
			}
			if err == nil {
				if diff := cmp.Diff(test.want, p.Walk); diff != "" {
					t.Errorf("walk (-want +got):\n%s", diff)
				}
				if selective := len(test.want.Against)+len(test.want.Types) > 0; p.Rooted() != selective || p.Whole() == selective {
					t.Errorf("rooted: %t, whole: %t", p.Rooted(), p.Whole())
				}
			}
		})
	}
}
