package spec

import (
	"fmt"
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
)

func TestFields(t *testing.T) {
	many := map[string]v1alpha1.FieldPath{}
	for i := range maxFields + 1 {
		many[fmt.Sprint("f", i)] = ".a"
	}
	at := "spec.queries[0].include.object"
	for name, tt := range map[string]struct {
		object v1alpha1.ObjectFilter
		want   string
	}{
		"fields":       {object: v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"phase": ".status.phase", "_a.b-C9": "{.a}"}}},
		"and jsonPath": {v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"a": ".a"}, JSONPath: ".a"}, at + ": has fields and jsonPath, which exclude each other"},
		"no name":      {v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"": ".a"}}, at + ".fields: '' is not a field's name"},
		"a bad name":   {v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"a b": ".a"}}, at + ".fields: 'a b' is not a field's name"},
		"a long name":  {v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{strings.Repeat("a", 64): ".a"}}, "is not a field's name"},
		"a bad path":   {v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"good": ".a", "image": "{.a[}"}}, at + ".fields.image: invalid JSONPath"},
		"a long path":  {v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"a": v1alpha1.FieldPath(strings.Repeat("a", maxFieldPath+1))}}, at + ".fields.a: must have at most 1024 characters"},
		"too many":     {v1alpha1.ObjectFilter{Fields: many}, at + ".fields: must have at most 32 fields, has 33"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(t.Context(), nil, v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true", Object: &tt.object}}}})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
