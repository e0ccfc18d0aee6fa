package delivery

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
)

// TestStep: readers at equal steps are sent the same, also who continues at the step of
// another one, and whoever that was.
func TestStep(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a", "b")
	stepOf := func(r *reader) Step {
		t.Helper()
		step, ok := r.Step()
		if !ok {
			t.Fatal("it is at no step")
		}
		return step
	}
	first, second := s.reader(SubscribeOptions{}), s.reader(SubscribeOptions{})
	if _, ok := first.Step(); ok {
		t.Error("a reader that has not begun is at a step")
	}
	first.catchUp(t)
	before := stepOf(first)
	s.set("Failed", false, "a")
	second.catchUp(t)
	if stepOf(first) == stepOf(second) {
		t.Error("one that lacks a change is at the same step")
	}
	first.catchUp(t)
	if stepOf(first) != stepOf(second) {
		t.Error("two that have everything are at different steps")
	}
	other := s.reader(SubscribeOptions{Access: fixedAccess{{Resource: "pods"}: true}})
	other.catchUp(t)
	if stepOf(other) == stepOf(first) {
		t.Error("one who may see less is at the same step")
	}

	behind := s.reader(SubscribeOptions{At: &before})
	first.Close()
	behind.catchUp(t)
	if diff := cmp.Diff(map[string]string{"a": second.vertices["a"]}, behind.vertices); diff != "" {
		t.Errorf("who continues is sent %s", diff)
	}
	if stepOf(behind) != stepOf(second) {
		t.Error("who continued is at another step")
	}
	part := s.reader(SubscribeOptions{Narrow: &graph.Narrowing{Roots: []graph.Key{{Resource: pods, Namespace: "shop", Name: "a"}}}})
	part.catchUp(t)
	if _, ok := part.Step(); ok {
		t.Error("one that shows a part is at a step")
	}
	// Who continues where another one ended has ended too.
	ends := s.publisher.source.Interruption()
	ends.Why = &ClosedError{Message: "over"}
	close(ends.Over)
	ended := s.reader(SubscribeOptions{At: &before})
	var closed *ClosedError
	if _, err := ended.Poll(); !errors.As(err, &closed) || closed.Message != "over" {
		t.Errorf("it goes on: %v", err)
	}
}
