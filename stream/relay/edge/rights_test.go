package edge

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// sticky keeps to its answers until it is asked whether one has changed, as a
// rights.Lease does. The first time that it resolves something, another answer changes.
type sticky struct {
	mu           sync.Mutex
	now, shown   answers
	changed      chan struct{}
	seen         chan struct{}
	asked, turns int
}

func (s *sticky) Rights() delivery.Rights {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil || s.seen == nil || s.seen == s.changed {
		s.shown = s.now
	}
	return s.shown
}

func (s *sticky) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
	s.seen = s.changed
	return s.seen
}

func (s *sticky) Resolve(_ context.Context, unknown []access.Place) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = maps.Clone(s.now)
	for _, p := range unknown {
		s.now[p] = p.Namespace == "shop"
	}
	if s.asked++; s.asked == 1 {
		s.now[access.Place{Resource: "secrets"}] = true
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return nil
}

// TestFindWhileAnswersChange: an object is found under the answers that there are by
// then, however they change while the holder asks.
func TestFindWhileAnswersChange(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	who := &sticky{now: answers{{Resource: "pods"}: false, {Resource: "secrets"}: false}, changed: make(chan struct{})}
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

// TestRightsChangeThereAndBack: what an edge drops because of answers that change and
// change back is sent again, though the holder sees the answers that it has seen.
func TestRightsChangeThereAndBack(t *testing.T) {
	s := newStage(t)
	s.set("shop", "kept")
	who := newAnn("shop", "bank")
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
	for whole := false; !whole; {
		if err := c.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		whole = c.whole
		c.mu.Unlock()
	}
	who.answer("bank", false)
	c.tellChanges()
	who.answer("bank", true)
	c.tellChanges()
	if text, _ := next(t, c); !strings.Contains(text, "meanwhile") || !strings.Contains(text, `"reset":true`) {
		t.Error(text)
	}
}

// TestToldOnce: within an epoch a holder is told what it does not know yet.
func TestToldOnce(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	who := newAnn("shop")
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: who})
	defer c.Close()
	next(t, c)
	if err := who.Resolve(t.Context(), []access.Place{{Resource: "pods", Namespace: "bank"}}); err != nil {
		t.Fatal(err)
	}
	if places := c.more().Places; len(places) != 1 || places[0].Namespace != "bank" {
		t.Errorf("told %v", places)
	}
	if places := c.answers().Places; len(places) != 3 {
		t.Errorf("an epoch begins with %v", places)
	}
}
