package expr

import (
	"fmt"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"name": "p", "labels": map[string]any{"a.b/c": "x"}},
		"spec": map[string]any{
			"replicas": int64(0), "paused": nil,
			"containers": []any{map[string]any{"name": "one", "image": "i"}, map[string]any{"name": "two"}},
		},
	}
	for name, tt := range map[string]struct {
		paths map[string]string
		want  string
	}{
		"one node":            {map[string]string{"n": "{.metadata.name}"}, `{"n":"p"}`},
		"without braces":      {map[string]string{"n": ".metadata.name", "m": "metadata.name"}, `{"m":"p","n":"p"}`},
		"a wildcard":          {map[string]string{"c": ".spec.containers[*].name"}, `{"c":["one","two"]}`},
		"a wildcard, one hit": {map[string]string{"c": ".spec.containers[*].image"}, `{"c":["i"]}`},
		"an index":            {map[string]string{"c": ".spec.containers[1].name"}, `{"c":"two"}`},
		"a slice":             {map[string]string{"c": ".spec.containers[0:1].name"}, `{"c":["one"]}`},
		"a filter":            {map[string]string{"c": ".spec.containers[?(@.name=='two')].name"}, `{"c":["two"]}`},
		"descent":             {map[string]string{"c": "..image"}, `{"c":["i"]}`},
		"a key with dots":     {map[string]string{"l": `.metadata.labels.a\.b/c`}, `{"l":"x"}`},
		"zero and null":       {map[string]string{"r": ".spec.replicas", "p": ".spec.paused"}, `{"p":null,"r":0}`},
		"absent":              {map[string]string{"r": ".spec.replicas", "s": ".status.phase", "c": ".status.conditions[*].type"}, `{"r":0}`},
		"all absent":          {map[string]string{"s": ".status.phase"}, `{}`},
		"a whole part":        {map[string]string{"m": ".metadata.labels"}, `{"m":{"a.b/c":"x"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var fields []Field
			for name, path := range tt.paths {
				f, err := ParseField(name, path)
				if err != nil {
					t.Fatal(err)
				}
				fields = append(fields, f)
			}
			in := &Input{Object: func() (map[string]any, error) { return object, nil }}
			got, err := NewFields(fields).Find(t.Context(), in)
			if err != nil || string(got) != tt.want || in.Cost == 0 {
				t.Errorf("%s, %v for %d, want %s", got, err, in.Cost, tt.want)
			}
		})
	}
}

func TestFieldsRefused(t *testing.T) {
	for path, want := range map[string]string{
		"":                          "JSONPath is empty",
		"{.a}{.b}":                  "a field is one path such as {.status.phase}; give each path a name of its own",
		"{.a}-{.b}":                 "a field is one path",
		"{range .a[*]}{.b}{end}":    "a field is one path",
		"{.a[}":                     "invalid JSONPath",
		strings.Repeat("a", 20_000): "too long",
	} {
		if _, err := ParseField("f", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", path, err, want)
		}
	}
}

// TestFieldsShareTheBounds: many fields find no more, and look at no more, than one
// JSONPath may. The error names the field.
func TestFieldsShareTheBounds(t *testing.T) {
	list := make([]any, 4_000)
	for i := range list {
		list[i] = "x"
	}
	object := map[string]any{"list": list, "text": strings.Repeat("x", 100<<10)}
	fields := func(path string, n int) *Fields {
		var all []Field
		for i := range n {
			f, err := ParseField(fmt.Sprint("f", i), path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
		return NewFields(all)
	}
	for name, tt := range map[string]struct {
		path string
		n    int
		want string
	}{
		"nodes": {".list[*]", 3, "f2: JSONPath finds too many nodes; at most 10000 are allowed"},
		"steps": {".list[?(@=='y')]", 32, "JSONPath looks at too many values; at most 200000 are allowed"},
		"bytes": {".text", 32, "JSONPath finds too much; at most 2 times the size of the object is allowed"},
		"none":  {".text[*]", 1, "f0: JSONPath uses [] on something that is no list"},
		"list":  {".text[0]", 1, "f0: JSONPath uses [] on something that is no list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fields(tt.path, tt.n).FindIn(object)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
