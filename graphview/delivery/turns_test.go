package delivery

import (
	"testing"
	"testing/synctest"
	"time"
)

func oneAtATime() *turns { return &turns{most: 1} }

// given tells whether a turn that was asked for is given by now.
func given(ready <-chan struct{}) bool {
	select {
	case <-ready:
		return true
	default:
		return ready == nil
	}
}

// TestTurnsAreTakenInOrder: as many have one as may, then who asked first, and who leaves is
// passed over.
func TestTurnsAreTakenInOrder(t *testing.T) {
	turns, all := &turns{most: 2}, [6]turn{}
	var ready [6]<-chan struct{}
	for i := range all {
		ready[i] = turns.ask(&all[i])
	}
	check := func(what string, want ...bool) {
		t.Helper()
		for i := range want {
			if given(ready[i]) != want[i] {
				t.Errorf("%s: turn %d is given: %v, want %v", what, i, !want[i], want[i])
			}
		}
	}
	check("at first", true, true, false, false, false, false)
	turns.end(&all[1])
	check("one is over", true, true, true, false, false, false)
	turns.end(&all[3])
	turns.end(&all[3])
	turns.end(&all[0])
	check("who waited has left", true, true, true, false, true, false)
	if again := turns.ask(&all[5]); given(again) || again != ready[5] {
		t.Error("who asks again waits in another place")
	}
	for i := range all {
		turns.end(&all[i])
	}
	if len(turns.held)+len(turns.waiting) > 0 {
		t.Errorf("%d turns are left, %d wait", len(turns.held), len(turns.waiting))
	}
}

// TestTurnThatTakesTooLong is over for those who wait, and who has it may finish.
func TestTurnThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, first, second, third := oneAtATime(), turn{}, turn{}, turn{}
		if !given(turns.ask(&first)) {
			t.Fatal("the first one waits")
		}
		ready, last := turns.ask(&second), turns.ask(&third)
		time.Sleep(turnTime / 2)
		synctest.Wait()
		if given(ready) {
			t.Error("a turn is over before its time")
		}
		time.Sleep(turnTime)
		synctest.Wait()
		if !given(ready) || given(last) || turns.ask(&first) != nil {
			t.Errorf("after its time a turn is not the next one's alone: %v, %v", given(ready), given(last))
		}
		turns.end(&first)
		if given(last) {
			t.Error("who takes too long gives away another one's turn")
		}
		turns.end(&second)
		if !given(last) {
			t.Error("nobody has a turn")
		}
		turns.end(&third)
	})
}

// TestSlowReaderTakesNobodysTurn: whose peer takes long to read a piece waits for its turn
// like others, who do not wait for it.
func TestSlowReaderTakesNobodysTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := largeStage(t)
		s.publisher.source.Shared.turns.most = 1
		slow, fast := s.reader(SubscribeOptions{}), s.reader(SubscribeOptions{})
		slow.poll(t)
		time.Sleep(time.Second) // it writes
		slow.poll(t)
		if slow.state.pos.Known > 0 {
			t.Fatal("the graph is one piece")
		}
		for fast.state.pos.Known == 0 {
			if sent := fast.sent; fast.poll(t) == 0 || fast.sent == sent && fast.state.pos.Known == 0 {
				t.Fatal("it waits for a turn of one who writes for long")
			}
		}
		slow.Close()
		fast.Close()
	})
}

// TestReadersOfAGraphTakeTurns: the second is sent a piece when the first has written its
// own, and who has a change to be sent waits for neither.
func TestReadersOfAGraphTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that no turn is over meanwhile
		s, names := largeStage(t)
		turns := &s.publisher.source.Shared.turns
		turns.most = 1
		current := s.reader(SubscribeOptions{})
		current.catchUp(t)
		current.poll(t)
		first, second := s.reader(SubscribeOptions{}), s.reader(SubscribeOptions{})
		if first.poll(t) == 0 || second.poll(t) > 0 {
			t.Fatal("not one has a turn")
		}
		s.set("Failed", false, names[0])
		if current.poll(t) == 0 {
			t.Error("a change waits")
		}
		first.poll(t) // its turn is over, and it asks for the next
		if err := second.Wait(t.Context()); err != nil || second.poll(t) == 0 {
			t.Errorf("the second has no turn: %v", err)
		}
		second.Close()
		if err := first.Wait(t.Context()); err != nil || first.poll(t) == 0 {
			t.Errorf("who left keeps its turn: %v", err)
		}
		first.Close()
		if len(turns.held)+len(turns.waiting) > 0 {
			t.Errorf("%d turns are left, %d wait", len(turns.held), len(turns.waiting))
		}
	})
}
