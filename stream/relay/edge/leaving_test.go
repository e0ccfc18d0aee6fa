package edge

import (
	"context"
	"errors"
	"testing"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/holder"
	"graphview.dev/stream/relay/wire"
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
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Fatal("it never leaves")
	}
	f.stop()
	if err := f.Err(); !errors.Is(err, ErrMoved) {
		t.Errorf("who was moved is told %v", err)
	}
}

// TestLeavingTogether: a holder does not wait for an edge that is about to stop too, and serves it
// until its relays end. The edge may say so before it opens a relay, and after.
func TestLeavingTogether(t *testing.T) {
	for order, early := range map[string]bool{"before a relay is opened": true, "after": false} {
		t.Run(order, func(t *testing.T) {
			s := newStage(t)
			all := make(map[string]string)
			s.put(all, "shop", "a")
			if early {
				s.client.Leave()
			}
			f := s.follow(t, newPerson("shop"), delivery.SubscribeOptions{})
			wants(t, all, f)
			if !early {
				s.client.Leave()
			}
			select {
			case <-s.handler.Leave():
			case <-time.After(time.Minute):
				t.Fatal("it waits for the edge")
			}
			s.put(all, "shop", "b")
			wants(t, all, f)
			f.stop()
		})
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
	eventually(t, func() string {
		if !r.Synced() {
			return "the edge is not told"
		}
		return ""
	})
}

// TestSyncedAs: a holder that decides about users does not say that its graph is complete
// before it has admitted one.
func TestSyncedAs(t *testing.T) {
	s := newAdmittingStage(t, func(_ context.Context, _ graphview.Name, who wire.User, _ context.CancelCauseFunc) (holder.Admitted, error) {
		if who.Name != "ann" {
			return holder.Admitted{}, &delivery.ClosedError{Reason: reason.Forbidden, Message: "you may not"}
		}
		return holder.Admitted{Access: newPerson("shop"), Release: func() {}}, nil
	})
	s.unsynced = make(chan struct{})
	close(s.unsynced)
	r := s.open(t)
	defer r.Release()
	refused, ok := errors.AsType[*delivery.ClosedError](s.open(t).WaitSynced(t.Context(), As{wire.User{Name: "mallory"}}))
	if !ok || refused.Reason != reason.Forbidden || r.Synced() {
		t.Errorf("mallory is told %v; synced: %t", refused, r.Synced())
	}
	if err := s.open(t).WaitSynced(t.Context(), As{wire.User{Name: "ann"}}); err != nil || !r.Synced() {
		t.Errorf("ann is told %v; synced: %t", err, r.Synced())
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

func TestViewEnds(t *testing.T) {
	s := newStage(t)
	c := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop")})
	next(t, c)
	s.over.Why = &delivery.ClosedError{Reason: reason.Deleted, Message: "the view was deleted"}
	close(s.over.Over)
	var closed *delivery.ClosedError
	if _, err := c.Next(t.Context()); !errors.As(err, &closed) || closed.Reason != reason.Deleted {
		t.Errorf("%v", err)
	}
}
