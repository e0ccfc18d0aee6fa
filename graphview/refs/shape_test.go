package refs

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// BenchmarkShape builds what a pod of 7 KB refers to from, and all of it.
func BenchmarkShape(b *testing.B) {
	data, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		b.Fatal(err)
	}
	compact := jsontext.Value(data)
	if err := compact.Compact(); err != nil {
		b.Fatal(err)
	}
	x, pod := Builtin(), graph.Kind{Kind: "Pod"}
	for name, build := range map[string]func() (map[string]any, error){
		"part":  func() (map[string]any, error) { return jsontree.Part(compact, x.Shape(pod)) },
		"whole": func() (map[string]any, error) { return jsontree.Whole(compact) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(compact)))
			b.ReportAllocs()
			for b.Loop() {
				tree, err := build()
				if err != nil {
					b.Fatal(err)
				}
				x.Extract(pod, tree)
			}
		})
	}
}
