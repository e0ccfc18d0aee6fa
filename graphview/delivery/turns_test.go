package delivery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/fairqueue"
)

var shop, bank = budget.NamespaceOwner("shop"), budget.NamespaceOwner("bank")

// takeTurns lets so many subscribers encode a piece of a whole graph at the same time.
func (s *stage) takeTurns(atOnce int) *fairqueue.Queue {
	q := fairqueue.New(fairqueue.Options{AtOnce: atOnce})
	s.publisher.o.Shared.Turn = func(ctx context.Context, owner budget.Owner) (func(), error) {
		turn, err := q.Acquire(ctx, owner)
		return turn.Release, err
	}
	return q
}

// waits runs Wait, and reports its error once it returns.
func (r *reader) waits(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- r.Wait(ctx) }()
	synctest.Wait()
	return ended
}

func isOver(ended <-chan error) bool { return len(ended) > 0 }

// TestWholeGraphsAreEncodedInTurns: a subscriber waits for a turn in Wait. A change of a current
// subscriber does not wait, and a subscriber that writes its piece has no turn.
func TestWholeGraphsAreEncodedInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, names := largeStage(t)
		current := s.reader(SubscribeOptions{})
		current.catchUp(t)
		current.poll(t)
		turns := s.takeTurns(1)
		turn, err := turns.Acquire(t.Context(), bank)
		if err != nil {
			t.Fatal(err)
		}
		first, second := s.reader(SubscribeOptions{Owner: shop}), s.reader(SubscribeOptions{Owner: shop})
		if first.poll(t) > 0 || second.poll(t) > 0 {
			t.Fatal("a piece was encoded without a turn")
		}
		firstWaits, secondWaits := first.waits(t.Context()), second.waits(t.Context())
		s.set("Failed", false, names[0])
		if current.poll(t) == 0 {
			t.Error("a change waits for a turn")
		}
		if isOver(firstWaits) || isOver(secondWaits) || turns.Waiting() != 2 {
			t.Errorf("%d wait for a turn, want both", turns.Waiting())
		}
		turn.Release()
		synctest.Wait()
		// Neither has written what it was sent.
		if !isOver(firstWaits) || !isOver(secondWaits) || first.poll(t) == 0 || second.poll(t) == 0 {
			t.Error("a subscriber that has not written its piece keeps its turn")
		}
		first.catchUp(t)
		second.catchUp(t)
		if len(first.vertices) != len(names) || len(second.vertices) != len(names) {
			t.Errorf("%d and %d objects, want %d", len(first.vertices), len(second.vertices), len(names))
		}
	})
}

// TestSubscriberGivesUpItsTurn: a subscriber that gives up leaves no turn behind, and can go on
// later.
func TestSubscriberGivesUpItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, names := largeStage(t)
		turns := s.takeTurns(1)
		turn, err := turns.Acquire(t.Context(), bank)
		if err != nil {
			t.Fatal(err)
		}
		r := s.reader(SubscribeOptions{Owner: shop})
		r.poll(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := r.waits(ctx)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || turns.Waiting() > 0 {
			t.Errorf("error %v, %d wait", err, turns.Waiting())
		}
		turn.Release()
		if r.catchUp(t); len(r.vertices) != len(names) {
			t.Errorf("%d objects, want %d", len(r.vertices), len(names))
		}
	})
}

// TestSharedPieceTakesOneTurn: a subscriber that waits for a piece which another one encodes has
// no turn.
func TestSharedPieceTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, released := newStage(t), make(chan struct{})
		s.put("a", &hookedObject{&fakeObject{uid: "uid-a", json: `{"metadata":{"name":"a"}}`}, func() { <-released }})
		turns := s.takeTurns(2)
		readers := []*reader{s.reader(SubscribeOptions{Owner: shop, JoinWalk: true}), s.reader(SubscribeOptions{Owner: bank, JoinWalk: true})}
		// Both have begun the walk, so its pieces are shared.
		for _, r := range readers {
			r.poll(t)
			if r.walk, _ = s.publisher.changes.walk(s.lens, r.wanted); r.walk != nil {
				r.state.pos = r.walk.at
			}
			r.poll(t)
		}
		var ended []<-chan error
		for _, r := range readers {
			ended = append(ended, r.waits(t.Context()))
		}
		before := s.publisher.o.Shared.Encodings()
		turn, err := turns.Acquire(t.Context(), shop)
		if err != nil || isOver(ended[0]) || isOver(ended[1]) {
			t.Fatalf("the second reader has a turn: %v", err)
		}
		turn.Release()
		close(released)
		synctest.Wait()
		for i, r := range readers {
			if !isOver(ended[i]) || r.poll(t) == 0 || r.vertices["a"] == "" {
				t.Errorf("reader %d has %v", i, r.vertices)
			}
		}
		if n := s.publisher.o.Shared.Encodings() - before; n != 1 {
			t.Errorf("%d encodings, want one", n)
		}
	})
}

// revocable are rights that may be lost.
type revocable struct {
	fixedAccess
	lost chan struct{}
}

func (r *revocable) Rights() Rights {
	select {
	case <-r.lost:
		return fixedRights{}
	default:
		return r.fixedAccess.Rights()
	}
}

func (r *revocable) Changed() <-chan struct{} {
	select {
	case <-r.lost:
		return nil
	default:
		return r.lost
	}
}

// TestRightsLostAfterATurn: a piece that was encoded before its subscriber lost a right is not
// sent.
func TestRightsLostAfterATurn(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	s.takeTurns(1)
	who := &revocable{fixedAccess{{Resource: "pods"}: true}, make(chan struct{})}
	r := s.reader(SubscribeOptions{Access: who, Owner: shop})
	r.poll(t)
	if err := r.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.encoded == nil || len(r.encoded.frames) == 0 || !strings.Contains(string(r.encoded.frames[0].JSON), `"a"`) {
		t.Fatal("no piece was encoded")
	}
	close(who.lost)
	if r.catchUp(t); len(r.vertices) != 0 || r.sent != 0 {
		t.Errorf("%d objects were sent, of which the subscriber may see none", r.sent)
	}
}
