package spec

import (
	"strings"
	"testing"
)

// TestText: many expressions that are each within their bound are refused together,
// in whichever fields of the spec they are.
func TestText(t *testing.T) {
	// A string of 4,000 characters is cheap to compile.
	long := "name != '" + strings.Repeat("a", 4000) + "'"
	include := func(f ObjectFilter) Query {
		return Query{Include: &Include{ResourceSelectorExpression: "true", Object: f}}
	}
	queries := func(n int, q Query) Spec {
		declared := Spec{}
		for range n {
			declared.Queries = append(declared.Queries, q)
		}
		return declared
	}
	rooted := func(r Roots) Spec {
		declared := queries(1, include(ObjectFilter{}))
		declared.Roots = &r
		return declared
	}
	expressions := make([]string, 20)
	for i := range expressions {
		expressions[i] = long
	}
	objects := make([]RootObject, 64)
	for i := range objects {
		var keys []string
		for j := range 30 {
			keys = append(keys, "key-"+strings.Repeat(string(rune('a'+j%26)), 25)+string(rune('a'+j/26)))
		}
		objects[i] = RootObject{Kind: "Pod", LabelSelector: strings.Join(keys, ",")}
	}
	for name, test := range map[string]struct {
		declared Spec
		wantErr  string
	}{
		"many queries within the bound": {declared: queries(15, include(ObjectFilter{ObjectSelectorExpression: long}))},
		"object selectors":              {declared: queries(17, include(ObjectFilter{ObjectSelectorExpression: long})), wantErr: "spec: expressions, selectors and paths must have at most 65536 bytes together"},
		"resource selectors":            {declared: queries(17, Query{Exclude: &Exclude{ResourceSelectorExpression: long}}), wantErr: "spec: expressions"},
		"label selectors":               {declared: queries(17, include(ObjectFilter{LabelSelector: long})), wantErr: "spec: expressions"},
		"fields":                        {declared: queries(17, include(ObjectFilter{Fields: map[string]string{"a": long}})), wantErr: "spec: expressions"},
		"roots by expression":           {declared: rooted(Roots{ObjectSelectorExpressions: expressions}), wantErr: "spec: expressions"},
		"roots by labels":               {declared: rooted(Roots{Objects: objects}), wantErr: "expressions, selectors and paths must have at most 65536 bytes together"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(t.Context(), nil, test.declared)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("got %v, want %q", err, test.wantErr)
			}
		})
	}
}
