package refs

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
)

func FuzzExtract(f *testing.F) {
	rules := append(BuiltinRules(), awkward...)
	x, err := New(rules...)
	if err != nil {
		f.Fatal(err)
	}
	var kinds []graph.Kind
	for _, rule := range rules {
		if !slices.Contains(kinds, rule.From) {
			kinds = append(kinds, rule.From)
		}
	}
	pod, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(0), pod)
	f.Add(byte(0), []byte(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n"}]},"spec":{"containers":[null]}}`))
	f.Add(byte(18), []byte(`{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"a"}]}`))
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		var object map[string]any
		if json.Unmarshal(data, &object) != nil {
			return
		}
		kind := kinds[int(which)%len(kinds)]
		if kind == AnyKind {
			kind = graph.Kind{Kind: "Unlisted"} // of a group where nothing is guessed
		}
		got := x.Extract(kind, object)
		if len(got) > MaxReferences {
			t.Fatalf("%d references", len(got))
		}
		if diff := cmp.Diff(got, x.Extract(kind, object)); diff != "" {
			t.Fatalf("second call differs:\n%s", diff)
		}
		for _, r := range got {
			if (r.Name == "") == (r.Selector == nil) || r.To.Kind == "" || (r.Field == "") != (r.Type == graph.OwnerReference) {
				t.Fatalf("not a reference: %+v", r)
			}
		}
		comparePart(t, x, kind, object, got)
	})
}
