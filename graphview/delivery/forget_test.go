package delivery

import (
	"errors"
	"fmt"
	"testing"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/bench/heap"
)

// TestPublisherKeepsNothingWithoutSubscribers: the warnings that were made for the rights
// of subscribers are counted with their messages, and dropped with the last subscriber.
func TestPublisherKeepsNothingWithoutSubscribers(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	s.state.SetScope([]ScopedResource{{Resource: pods, Namespaced: true}, {Resource: secrets, Namespaced: true}}, nil, false)
	var readers []*reader
	for range 3 {
		r := s.reader(SubscribeOptions{Access: fixedAccess{{Resource: "pods"}: true}})
		r.catchUp(t)
		if len(r.warnings) != 1 {
			t.Fatalf("warnings %v, want the one about secrets", r.warnings)
		}
		readers = append(readers, r)
	}
	if kept := s.publisher.kept(); kept == 0 {
		t.Error("nothing is kept for three subscribers")
	}
	keptIsCounted(t, s.publisher)
	for _, r := range readers {
		r.Close()
	}
	if kept := s.publisher.kept(); kept != 0 || s.held[budget.Messages] != 0 {
		t.Errorf("%d bytes of warnings about rights are kept without subscribers", kept)
	}
}

// kept is how many bytes of warnings about rights a publisher keeps.
func (p *Publisher) kept() int {
	n := 0
	for _, at := range p.changes.slots {
		n += at.denied.bytes()
	}
	return n
}

// TestFaultBytes: the objects that could not be processed take no more memory than Warnings says, and at
// least half of it.
func TestFaultBytes(t *testing.T) {
	w, origin := NewWarnings(func() {}), &FaultOrigin{Resource: graph.Resource{Version: "v1", Resource: "pods"}}
	before := heap.Held()
	for i := range 50_000 {
		w.SetFault(origin, "shop", fmt.Sprint("p", i), errors.New("no such key"))
	}
	took, charged := heap.Held()-before, w.Bytes()
	t.Logf("charged %d KiB, takes %d KiB", charged>>10, took>>10)
	if took > charged || 2*took < charged {
		t.Errorf("charged %d bytes, takes %d", charged, took)
	}
	for i := range 25_000 {
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
