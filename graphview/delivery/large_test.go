package delivery

import (
	"runtime"
	"strings"
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/patience"
)

// TestLargeContentIsShared: all readers of a large object hold the same bytes, and bytes that no
// reader holds are dropped.
func TestLargeContentIsShared(t *testing.T) {
	shared := &largeFrames{}
	large := &fakeObject{json: `["` + strings.Repeat("x", largeContent) + `"]`}
	changes := []graph.Change{
		{Op: graph.SetVertex, Vertex: node, Part: []byte(`[1]`)},
		{Op: graph.SetVertex, Vertex: configMap, Payload: large},
		{Op: graph.SetVertex, Vertex: deployment, Part: []byte(`[2]`)},
	}
	send := func() []*Frame {
		b := newFrameBuilder(true)
		b.large = shared
		for i := range changes {
			b.add(&changes[i])
		}
		b.close("r", true)
		return b.frames
	}
	first, second := send(), send()
	if len(first) != 3 || first[1] != second[1] || first[0] == second[0] {
		t.Fatalf("%d frames, the large one is shared: %v", len(first), len(first) == 3 && first[1] == second[1])
	}
	var all strings.Builder
	for i, f := range first {
		all.Write(f.Actions)
		if f.Reset != (i == 0) || (f.Rev != "") != (i == 2) {
			t.Errorf("frame %d: %.60s", i, f.JSON)
		}
	}
	b := &frameBuilder{}
	for i := range changes {
		b.add(&changes[i])
	}
	b.close("", false)
	if got, want := strings.ReplaceAll(all.String(), "}}{", "}},{"), string(b.frames[0].Actions); got != want {
		t.Errorf("together they say %.200s, want %.200s", got, want)
	}
	runtime.KeepAlive(second)
	first, second = nil, nil //nolint:ineffassign,wastedassign // drop the last references
	patience.Await(t, "a collection", func() bool {
		runtime.GC()
		return shared.Get(largeKey{vertex: configMap, object: large}) == nil
	})
}
