package intake

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
)

// TestSecretTree: fields can read the metadata of a Secret that cannot repeat its data.
func TestSecretTree(t *testing.T) {
	got := secretTree(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": map[string]any{"a": "b"}, "stringData": map[string]any{"a": "b"},
		"metadata": map[string]any{
			"name": "s", "labels": map[string]any{"app": "web"}, "annotations": map[string]any{"copy": "b"}, "managedFields": []any{"b"}, "selfLink": "b",
		},
	})
	want := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "labels": map[string]any{"app": "web"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLargePartIsNotKept: of what a path finds in an object, a view keeps it where it is
// small. Anything larger is found again when it is sent.
func TestLargePartIsNotKept(t *testing.T) {
	texts := map[string]string{"small": "x", "large": strings.Repeat("x", 2*smallPart)}
	var items []string
	for name, text := range texts {
		items = append(items, `{"metadata":{"namespace":"shop","name":"`+name+`","uid":"u-`+name+`","resourceVersion":"1"},"data":{"text":"`+text+`"}}`)
	}
	e := start(t, configmaps.ServeItems(t, items, nil))
	f := e.feed("")
	f.awaitList(t)
	program, err := spec.Compile(t.Context(), nil, selecting(v1alpha1.ObjectFilter{JSONPath: "{.data.text}"}))
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{Resource: configmaps.Resource, Query: &program.Queries[0]}
	if n, err := f.watch.Visit(t.Context(), f.retained(t), func(o *watch.Decoded) bool {
		var got []byte
		switch part := j.Evaluate(t.Context(), nil, o).Selection.Part.(type) {
		case []byte:
			if got = part; len(got) > smallPart {
				t.Errorf("%s: %d bytes are kept, want at most %d", o.Name(), len(got), smallPart)
			}
		case foundPart:
			var err error
			if got, err = part.AppendJSON(nil, o.Object); err != nil {
				t.Errorf("%s: %v", o.Name(), err)
			}
		}
		if want := `["` + texts[o.Name()] + `"]`; string(got) != want {
			t.Errorf("%s: %d bytes are sent, want %d", o.Name(), len(got), len(want))
		}
		return true
	}); n != len(texts) || err != nil {
		t.Errorf("%d objects, %v", n, err)
	}
}
