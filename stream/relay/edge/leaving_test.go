package edge

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// TestLeaving: a holder that is about to stop says so, serves on until the last has gone,
// and takes nobody more.
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

func TestTellSubscribers(t *testing.T) {
	s := newStage(t)
	said := wire.Subscribers{Run: "a", Views: []wire.ViewSubscribers{{Namespace: "shop", Name: "web", Subscribers: 3}}}
	if err := s.client.TellSubscribers(t.Context(), s.member, said); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(said, <-s.said); diff != "" {
		t.Error(diff)
	}
}
