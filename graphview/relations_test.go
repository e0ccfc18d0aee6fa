package graphview

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/patience"
)

// TestRelations: a reference is read once, without Secrets, absent objects and guesses. A scrape ends, also if the view does.
func TestRelations(t *testing.T) {
	var lens *graph.Lens
	shared, sources := graph.New(nil), map[string]graph.SourceID{}
	shared.Update(func() {
		lens = shared.NewLens()
		for kind, resource := range map[string]string{"Pod": "pods", "ConfigMap": "configmaps", "Secret": "secrets"} {
			of := graph.Resource{Version: "v1", Resource: resource}
			sources[kind] = shared.AddSource(graph.Kind{Kind: kind}, of, graph.ScopeNamespaced)
			lens.Watch(sources[kind])
			lens.Use(graph.Kind{Kind: kind}, of)
		}
	})
	version := uint64(0)
	set := func(kind, name string, references ...graph.Reference) {
		version++
		shared.Update(func() {
			id := shared.Set(sources[kind], &graph.Object{Namespace: "shop", Name: name, UID: name, Version: version, Hash: version, References: references})
			lens.Select(id, graph.Selection{Member: true})
		})
	}
	to := func(kind, name, field string) graph.Reference {
		return graph.Reference{To: graph.Kind{Kind: kind}, Namespace: "shop", Name: name, Type: graph.Direct, Field: field, Inferred: strings.HasPrefix(field, graph.InferredField)}
	}
	set("ConfigMap", "flags")
	set("ConfigMap", "guessed")
	set("Secret", "password", to("ConfigMap", "flags", "metadata.annotations"))
	set("Pod", "web", to("ConfigMap", "flags", "spec.a"), to("ConfigMap", "flags", "spec.b"), to("ConfigMap", "absent", "spec.a"),
		to("Secret", "password", "spec.c"), to("ConfigMap", "guessed", graph.InferredField+"spec.d"))
	found, _ := readRelations(lens, 1)
	got := []string{}
	for of := range maps.Keys(found) {
		got = append(got, strings.Join(of[:], " "))
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"Pod shop web ConfigMap shop flags r"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	set("Pod", "api", to("ConfigMap", "flags", "spec.a"))
	if found, n := readRelations(lens, 1); found != nil || n != 2 {
		t.Errorf("beyond the limit: %v, %d references", found, n)
	}
	// The view is deleted, or made again, during a scrape.
	shared.Update(lens.Close)
	read := make(chan int, 1)
	go func() {
		found, n := readRelations(lens, 1)
		read <- len(found) + n
	}()
	select {
	case n := <-read:
		if n != 0 {
			t.Errorf("a closed lens has %d references", n)
		}
	case <-time.After(patience.For(10 * time.Second)):
		t.Fatal("a scrape of a closed lens does not end")
	}
}
