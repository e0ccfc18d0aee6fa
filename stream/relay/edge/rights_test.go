package edge

import (
	"context"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// fickle is a person with an answer that changes the first time that something is resolved.
type fickle struct {
	*person

	asked, turns int
}

func (f *fickle) Changed() <-chan struct{} {
	f.turns++
	return f.person.Changed()
}

func (f *fickle) Resolve(ctx context.Context, unknown []access.Place) error {
	if f.asked++; f.asked == 1 {
		f.let("vault", true)
	}
	return f.person.Resolve(ctx, unknown)
}

// TestFindWhileAnswersChange: an object is found under the answers that there are by
// then, however they change while the holder asks.
func TestFindWhileAnswersChange(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	who := &fickle{person: newPerson("shop")}
	who.now = answers{{Resource: "pods"}: false, {Resource: "pods", Namespace: "vault"}: false}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := s.open(t).Find(ctx, graph.Key{Resource: pods, Namespace: "shop", Name: "a"}, who)
	if err != nil || found == nil || !strings.Contains(string(found.Vertex), `"a"`) {
		t.Fatalf("found %v %v", found, err)
	}
	if who.turns > 4 {
		t.Errorf("looked %d times whether an answer had changed", who.turns)
	}
}

// TestRightsAreRevokedAndGranted: what an edge drops because of answers that change and
// change back is sent again.
func TestRightsAreRevokedAndGranted(t *testing.T) {
	s := newStage(t)
	s.set("shop", "kept")
	who := newPerson("shop", "bank")
	s.set("bank", "lost")
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: who})
	defer c.Close()
	next(t, c)
	if frames, err := c.Poll(); err != nil || len(frames) > 0 {
		t.Fatal(frames, err)
	}
	s.set("shop", "meanwhile")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	who.let("bank", false)
	c.follow()
	who.let("bank", true)
	c.follow()
	if text, _ := next(t, c); !strings.Contains(text, "meanwhile") || !strings.Contains(text, `"reset":true`) {
		t.Error(text)
	}
}

// TestRightsAreSentOnce: a holder is told what it does not know yet of a set of rights.
func TestRightsAreSentOnce(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	who := newPerson("shop")
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: who})
	defer c.Close()
	next(t, c)
	if err := who.Resolve(t.Context(), []access.Place{{Resource: "pods", Namespace: "bank"}}); err != nil {
		t.Fatal(err)
	}
	r := c.relay
	r.mu.Lock()
	if a := r.answersLocked(who.Rights(), c.rights); a.Of != c.digest || len(a.Places) != 1 || a.Places[0].Namespace != "bank" {
		t.Errorf("told %+v", a)
	}
	if a := r.answersLocked(who.Rights(), nil); a.Of != "" || len(a.Places) != 3 {
		t.Errorf("a holder that knows nothing is told %+v", a)
	}
	r.mu.Unlock()
	// Another subscriber with the same rights refers to these.
	same := newPerson("shop")
	same.now = who.now
	c.follow()
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.answersLocked(same.Rights(), nil); a.Of != a.Digest || len(a.Places) > 0 {
		t.Errorf("the same answers again: %+v", a)
	}
}
