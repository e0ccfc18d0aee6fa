package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/oracle"
)

func TestRender(t *testing.T) {
	many := func(seconds ...float64) []sample {
		var all []sample
		for _, s := range seconds {
			all = append(all, sample{Seconds: s, Ready: s, Objects: 100, Bytes: 2e6, Idle: 1e6, Resident: 3e6, Peak: 3e6, Heap: 1000, Collected: 2e6})
		}
		return all
	}
	text := render(&report{
		machine: machine{cores: 2, processor: "one", memory: 25e9, goVersion: "go1", cluster: "v1"},
		options: options{shape: shapeOf(13_000, 50, 20), runs: 3},
		results: &results{manager: many(2, 4, 3), others: map[string][]sample{
			"floor": many(1, 1, 2), "gzip": many(2, 2, 2), "engine": many(2, 2, 2), "informers": many(8, 8, 8), "stripped": many(6, 6, 6),
		}},
		graph: oracle.Graph{Vertices: map[oracle.VertexKey]any{{Name: "one"}: nil}},
	})
	var got []string
	for line := range strings.Lines(text) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		time.Now().UTC().Format(time.DateOnly) + ": 2 cores (one), 25 GB of memory, go1, Kubernetes v1. 13110 objects (10 namespaces × 50 applications × 20 pods): " +
			"2 MB of JSON in the API server's lists, 1 vertices and 0 arcs, as the oracle has them.",
		"Medians of 3, in brackets the lowest and highest.",
		"",
		"| what | goal | ours | floor | dynamic informers | the same without managedFields | ours ÷ floor | ours ÷ informers |",
	}
	if diff := cmp.Diff(want, got[:4]); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"| cold start to synced, the engine alone | ≤ 1.3 × floor, ≤ 1/5 of informers | 2.00 s | 1.00 s (1.00 s to 2.00 s) | 8.00 s | 6.00 s | 2.00 | 0.25 |",
		"| view created to `synced` at a WebSocket subscriber | | 3.00 s (2.00 s to 4.00 s) | 1.00 s (1.00 s to 2.00 s) | 8.00 s | 6.00 s | 3.00 | 0.38 |",
		"| view created to Ready | | 3.00 s (2.00 s to 4.00 s) | | | | | |",
		"| heap per object, the engine alone | ≤ 1.6 KB at 100,000; ≤ 1/15 of informers | 0.01 KB | | 0.01 KB | 0.01 KB | | 1.00 |",
		"| most resident ÷ that, the engine alone | ≤ 1.5 | 1.50 | | 1.50 | 1.50 | | 1.00 |",
	} {
		found := false
		for _, line := range got {
			found = found || line == want
		}
		if !found {
			t.Errorf("no line\n%s\nin\n%s", want, text)
		}
	}
}

func TestBetween(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		want     string
		wantErr  error
	}{
		"replaced":   {"a\n" + tableBegins + "\nold\n" + tableEnds + "\nb\n", "a\n" + tableBegins + "\nnew\n" + tableEnds + "\nb\n", nil},
		"empty":      {tableBegins + tableEnds, tableBegins + "\nnew\n" + tableEnds, nil},
		"no markers": {"a", "", errNoPlace},
		"no end":     {tableBegins + "a", "", errNoPlace},
		"backwards":  {tableEnds + tableBegins, "", errNoPlace},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := between(c.document, "new\n")
			if !errors.Is(err, c.wantErr) {
				t.Fatalf("error %v, want %v", err, c.wantErr)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
