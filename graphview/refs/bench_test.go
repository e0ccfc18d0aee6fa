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
	for name, kind := range map[string]graph.Kind{
		"pod":      {Kind: "Pod"},
		"unlisted": {Group: "example.com", Kind: "Unlisted"},
	} {
		b.Run(name, func(b *testing.B) {
			x := Builtin()
			b.ReportAllocs()
			for b.Loop() {
				x.Extract(kind, pod)
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
