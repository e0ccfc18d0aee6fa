package delivery

import (
	"testing"

	"graphview.dev/graphview/budget"
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
