package graphview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecretTree: fields see of a Secret what nobody can hide anything in.
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
