package refs

import (
	"encoding/json"
	"os"
	"testing"

	"graphview.dev/graphview/graph"
)

// BenchmarkExtract takes the references of a pod of 7 KB, without decoding.
func BenchmarkExtract(b *testing.B) {
	data, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		b.Fatal(err)
	}
	var pod map[string]any
	if err := json.Unmarshal(data, &pod); err != nil {
		b.Fatal(err)
	}
	for name, of := range map[string]struct {
		kind   graph.Kind
		served *Served
	}{
		"pod":      {kind: graph.Kind{Kind: "Pod"}},
		"unlisted": {kind: graph.Kind{Group: "example.com", Kind: "Unlisted"}},
		"inferred": {kind: graph.Kind{Group: "example.com", Kind: "Unlisted"}, served: servedBy("example.com/Unlisted", "example.com/Volume")},
	} {
		b.Run(name, func(b *testing.B) {
			x := Builtin().Serving(of.served)
			b.ReportAllocs()
			for b.Loop() {
				x.Extract(of.kind, pod)
			}
		})
	}
}

// BenchmarkNew compiles the built-in table.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(BuiltinRules()...); err != nil {
			b.Fatal(err)
		}
	}
}
