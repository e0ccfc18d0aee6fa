package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

func TestSpecOf(t *testing.T) {
	include := v1alpha1.Query{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}
	wantInclude := spec.Query{Include: &spec.Include{ResourceSelectorExpression: "true"}}
	tests := map[string]struct {
		spec      v1alpha1.GraphViewSpec
		want      spec.Spec
		wantError string
	}{
		"least": {
			spec: v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{include}},
			want: spec.Spec{Queries: []spec.Query{wantInclude}},
		},
		"everything": {
			spec: v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{
					{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: "group == 'a'"}},
					{Include: &v1alpha1.Include{
						ResourceSelectorExpression: "group == 'b'",
						Object: &v1alpha1.ObjectFilter{
							LabelSelector: "l", FieldSelector: "f", ObjectSelectorExpression: "o", JSONPath: "j", Fields: map[string]v1alpha1.FieldPath{"n": "p"},
						},
					}},
				},
				Namespaces: &v1alpha1.Namespaces{
					Names: []v1alpha1.NamespaceName{"x", "y"}, LabelSelector: "nl", FieldSelector: "nf", ObjectSelectorExpression: "no",
				},
				Roots: &v1alpha1.Roots{
					Objects: []v1alpha1.RootObject{
						{Group: new(""), Kind: "k", Namespace: "n", Name: "m", LabelSelector: "l"},
						{HelmRelease: "h", ArgoApplication: "a", FluxKustomization: "k", FluxHelmRelease: "r"},
					},
					ObjectSelectorExpressions: []v1alpha1.Expression{"r1", "r2"},
					IgnoreArcDirection: []v1alpha1.ArcType{
						v1alpha1.ArcTypeOwnerReference, v1alpha1.ArcTypeReference, v1alpha1.ArcTypeTransitive,
					},
				},
				ServiceAccountName: "viewer",
			},
			want: spec.Spec{
				Queries: []spec.Query{
					{Exclude: &spec.Exclude{ResourceSelectorExpression: "group == 'a'"}},
					{Include: &spec.Include{
						ResourceSelectorExpression: "group == 'b'",
						Object: spec.ObjectFilter{
							LabelSelector: "l", FieldSelector: "f", ObjectSelectorExpression: "o", JSONPath: "j", Fields: map[string]string{"n": "p"},
						},
					}},
				},
				Namespaces: &spec.Namespaces{
					Names: []string{"x", "y"}, LabelSelector: "nl", FieldSelector: "nf", ObjectSelectorExpression: "no",
				},
				Roots: &spec.Roots{
					Objects: []spec.RootObject{
						{Group: new(""), Kind: "k", Namespace: "n", Name: "m", LabelSelector: "l"},
						{HelmRelease: "h", ArgoApplication: "a", FluxKustomization: "k", FluxHelmRelease: "r"},
					},
					ObjectSelectorExpressions: []string{"r1", "r2"},
					IgnoreArcDirection:        []graph.ArcType{graph.OwnerReference, graph.Direct, graph.Transitive},
				},
				ServiceAccountName: "viewer",
			},
		},
		"roots without expressions restrict nothing": {
			spec: v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{include},
				Roots:   &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{}},
			},
			want: spec.Spec{Queries: []spec.Query{wantInclude}},
		},
		"follow": {
			spec: v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{include},
				Roots: &v1alpha1.Roots{
					ObjectSelectorExpressions: []v1alpha1.Expression{"true"},
					Follow:                    &v1alpha1.Follow{Direction: v1alpha1.DirectionUp, Depth: 3, Types: []v1alpha1.ArcType{"or"}},
				},
			},
			want: spec.Spec{
				Queries: []spec.Query{wantInclude},
				Roots: &spec.Roots{
					ObjectSelectorExpressions: []string{"true"},
					Follow:                    &spec.Follow{Direction: graph.Up, Depth: 3, Types: []graph.ArcType{graph.OwnerReference}},
				},
			},
		},
		"two ways": {
			spec: v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{include},
				Roots: &v1alpha1.Roots{
					ObjectSelectorExpressions: []v1alpha1.Expression{"true"},
					IgnoreArcDirection:        []v1alpha1.ArcType{"or"},
					Follow:                    &v1alpha1.Follow{Direction: v1alpha1.DirectionUp},
				},
			},
			wantError: `spec.roots: follow and ignoreArcDirection exclude each other; change the spec, or upgrade the operator`,
		},
		"unknown direction": {
			spec: v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{include},
				Roots:   &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"true"}, Follow: &v1alpha1.Follow{Direction: "up"}},
			},
			wantError: `spec.roots.follow.direction: unknown direction "up", expected Down, Up or Both; change the spec, or upgrade the operator`,
		},
		"unknown reference type": {
			spec: v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{include},
				Roots: &v1alpha1.Roots{
					ObjectSelectorExpressions: []v1alpha1.Expression{"true"},
					IgnoreArcDirection:        []v1alpha1.ArcType{"or", "x"},
				},
			},
			wantError: `spec.roots.ignoreArcDirection[1]: unknown reference type "x", expected or, r or t; change the spec, or upgrade the operator`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := SpecOf(&tt.spec)
			var message string
			if err != nil {
				message = err.Error()
			}
			if message != tt.wantError {
				t.Fatalf("error %q, want %q", message, tt.wantError)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}
