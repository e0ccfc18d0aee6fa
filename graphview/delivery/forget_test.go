package delivery

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"graphview.dev/graphview/graph"
)

// TestPublisherKeepsNothingWithoutSubscribers: the warnings that were made for the rights
// of subscribers are counted with their messages, and dropped with the last subscriber.
func TestPublisherKeepsNothingWithoutSubscribers(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	s.scope = Scope{Generation: 1, Resources: []ScopedResource{{Resource: pods, Namespaced: true}, {Resource: secrets, Namespaced: true}}}
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
	if kept := s.publisher.kept(); kept != 0 || s.publisher.source.Shared.kept.Load() != 0 {
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

// TestFaultsBeyondTheLimit: an object beyond the limit that fails again and again does not
// change what the view reports.
func TestFaultsBeyondTheLimit(t *testing.T) {
	w, judge := NewWarnings(func() {}), &fakeJudge{resource: graph.Resource{Version: "v1", Resource: "pods"}}
	most := int(faultsBound.Limit())
	for i := range most {
		w.SetFault(judge, "shop", fmt.Sprint("p", i), errors.New("no such key"))
	}
	w.SetFault(judge, "shop", "beyond", errors.New("no such key"))
	faults, number := w.Faults(), w.head()
	for range 10 {
		w.SetFault(judge, "shop", "beyond", errors.New("no such key"))
	}
	if w.Faults() != faults || w.head() != number {
		t.Errorf("%d objects failed and %d warnings changed after one object failed 10 times more, before %d and %d", w.Faults(), w.head(), faults, number)
	}
	set, _, _, _ := w.since(0)
	found := false
	for i := range set {
		found = found || strings.HasPrefix(set[i].Message, fmt.Sprintf("more than %d further objects", most-maxShown))
	}
	if !found {
		t.Error("no warning says that there are more")
	}
}
