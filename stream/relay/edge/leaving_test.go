package edge

import (
	"errors"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
)

// TestLeaving: a holder that is about to stop says so, serves until the last relay has
// ended, and refuses further ones.
func TestLeaving(t *testing.T) {
	s := newStage(t)
	all := make(map[string]string)
	s.put(all, "shop", "a")
	f := s.follow(t, newPerson("shop"), delivery.SubscribeOptions{})
	wants(t, all, f)
	left := s.handler.Leave()
	if m := <-s.left; m != s.member {
		t.Errorf("%v leaves", m)
	}
	if _, err := s.client.Open(t.Context(), s.member, other, false); !errors.Is(err, ErrBroken) {
		t.Errorf("it takes another relay: %v", err)
	}
	s.put(all, "shop", "b")
	wants(t, all, f)
	select {
	case <-left:
		t.Error("it has left, and is read from")
	default:
	}
	f.channel.relay.Retire()
	deadline := time.After(time.Minute)
	select {
	case <-left:
	case <-deadline:
		t.Fatal("it never leaves")
	}
	f.stop()
	if !errors.Is(f.err, ErrMoved) {
		t.Errorf("who was moved is told %v", f.err)
	}
}

// TestSynced: an edge knows when the holder's graph is complete, at first or later.
func TestSynced(t *testing.T) {
	s := newStage(t)
	s.unsynced = make(chan struct{})
	r := s.open(t)
	defer r.Release()
	if r.Synced() {
		t.Error("it is not")
	}
	close(s.unsynced)
	for deadline := time.Now().Add(time.Minute); !r.Synced(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the edge is not told")
		}
	}
}

// TestStale: an edge is told when a holder loses its API server, also by a relay that begins
// then, and when it has it back.
func TestStale(t *testing.T) {
	s := newStage(t)
	s.any = true
	r := s.open(t)
	defer r.Release()
	s.handler.SetStale(true)
	if !<-s.stale {
		t.Error("it is not stale")
	}
	another, err := s.client.Open(t.Context(), s.member, other, false)
	if err != nil {
		t.Fatal(err)
	}
	defer another.Release()
	if !<-s.stale {
		t.Error("it is not stale to another relay")
	}
	s.handler.SetStale(false)
	for range 2 {
		if <-s.stale {
			t.Error("it is stale for ever")
		}
	}
}
