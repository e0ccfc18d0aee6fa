//go:build !race

package delivery

import (
	"errors"
	"fmt"
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/bench/heap"
)

// TestFaultBytes: the objects that could not be processed take no more memory than Warnings says, and at
// least half of it.
func TestFaultBytes(t *testing.T) {
	w, origin := NewWarnings(func() {}), &FaultOrigin{Resource: graph.Resource{Version: "v1", Resource: "pods"}}
	before := heap.Held()
	const objects = 30_000 // the map has just grown: just before, it takes little more than half of what is charged
	for i := range objects {
		w.SetFault(origin, "shop", fmt.Sprint("p", i), errors.New("no such key"))
	}
	took, charged := heap.Held()-before, w.Bytes()
	t.Logf("charged %d KiB, takes %d KiB", charged>>10, took>>10)
	if took > charged || 2*took < charged {
		t.Errorf("charged %d bytes, takes %d", charged, took)
	}
	for i := range objects / 2 {
		w.SetFault(origin, "shop", fmt.Sprint("p", i), nil)
	}
	if left := w.Bytes(); left <= 0 || left >= charged {
		t.Errorf("charged %d bytes for a half, %d for all", left, charged)
	}
	w.DropFaults(origin)
	if left := w.Bytes(); left != 0 {
		t.Errorf("charged %d bytes for nothing", left)
	}
}
