package spec

import (
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
)

// TestText: many expressions that are each within their bound are refused together,
// in whichever fields of the spec they are.
func TestText(t *testing.T) {
	// A string of 4,000 characters is cheap to compile.
	long := "name != '" + strings.Repeat("a", 4000) + "'"
	include := func(f v1alpha1.ObjectFilter) v1alpha1.Query {
		return v1alpha1.Query{Include: &v1alpha1.Include{ResourceSelectorExpression: "true", Object: &f}}
	}
	queries := func(n int, q v1alpha1.Query) v1alpha1.GraphViewSpec {
		declared := v1alpha1.GraphViewSpec{}
		for range n {
			declared.Queries = append(declared.Queries, q)
		}
		return declared
	}
	rooted := func(r v1alpha1.Roots) v1alpha1.GraphViewSpec {
		declared := queries(1, include(v1alpha1.ObjectFilter{}))
		declared.Roots = &r
		return declared
	}
	expressions := make([]v1alpha1.Expression, 20)
	for i := range expressions {
		expressions[i] = v1alpha1.Expression(long)
	}
	objects := make([]v1alpha1.RootObject, 64)
	for i := range objects {
		var keys []string
		for j := range 30 {
			keys = append(keys, "key-"+strings.Repeat(string(rune('a'+j%26)), 25)+string(rune('a'+j/26)))
		}
		objects[i] = v1alpha1.RootObject{Kind: "Pod", LabelSelector: strings.Join(keys, ",")}
	}
	for name, test := range map[string]struct {
		declared v1alpha1.GraphViewSpec
		wantErr  string
	}{
		"many queries within the bound": {declared: queries(15, include(v1alpha1.ObjectFilter{ObjectSelectorExpression: long}))},
		"object selectors":              {declared: queries(17, include(v1alpha1.ObjectFilter{ObjectSelectorExpression: long})), wantErr: "spec: expressions, selectors and paths must have at most 65536 bytes together"},
		"resource selectors":            {declared: queries(17, v1alpha1.Query{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: long}}), wantErr: "spec: expressions"},
		"label selectors":               {declared: queries(17, include(v1alpha1.ObjectFilter{LabelSelector: long})), wantErr: "spec: expressions"},
		"fields":                        {declared: queries(17, include(v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"a": v1alpha1.FieldPath(long)}})), wantErr: "spec: expressions"},
		"roots by expression":           {declared: rooted(v1alpha1.Roots{ObjectSelectorExpressions: expressions}), wantErr: "spec: expressions"},
		"roots by labels":               {declared: rooted(v1alpha1.Roots{Objects: objects}), wantErr: "expressions, selectors and paths must have at most 65536 bytes together"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(t.Context(), nil, test.declared)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("got %v, want %q", err, test.wantErr)
			}
		})
	}
}
