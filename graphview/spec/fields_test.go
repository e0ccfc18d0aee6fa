package spec

import (
	"fmt"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	many := map[string]string{}
	for i := range maxFields + 1 {
		many[fmt.Sprint("f", i)] = ".a"
	}
	at := "spec.queries[0].include.object"
	for name, tt := range map[string]struct {
		object ObjectFilter
		want   string
	}{
		"fields":       {object: ObjectFilter{Fields: map[string]string{"phase": ".status.phase", "_a.b-C9": "{.a}"}}},
		"and jsonPath": {ObjectFilter{Fields: map[string]string{"a": ".a"}, JSONPath: ".a"}, at + ": has fields and jsonPath, which exclude each other"},
		"no name":      {ObjectFilter{Fields: map[string]string{"": ".a"}}, at + ".fields: '' is not a field's name"},
		"a bad name":   {ObjectFilter{Fields: map[string]string{"a b": ".a"}}, at + ".fields: 'a b' is not a field's name"},
		"a long name":  {ObjectFilter{Fields: map[string]string{strings.Repeat("a", 64): ".a"}}, "is not a field's name"},
		"a bad path":   {ObjectFilter{Fields: map[string]string{"good": ".a", "image": "{.a[}"}}, at + ".fields.image: invalid JSONPath"},
		"a long path":  {ObjectFilter{Fields: map[string]string{"a": strings.Repeat("a", maxFieldPath+1)}}, at + ".fields.a: must have at most 1024 characters"},
		"too many":     {ObjectFilter{Fields: many}, at + ".fields: must have at most 32 fields, has 33"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(t.Context(), nil, Spec{Queries: []Query{{Include: &Include{ResourceSelectorExpression: "true", Object: tt.object}}}})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
