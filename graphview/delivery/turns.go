package delivery

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// turnTime is for how long a turn is one's own. Then another one's begins, beside what is
// still being done.
const turnTime = 2 * time.Millisecond

// turns have those take turns who are being sent a whole graph, of any view, in the order
// in which they ask. A turn is to get one piece and to write it.
//
// A change waits for the processor behind whatever else could run, several times on its way
// from the API server to its subscribers. A thousand who read a large graph could run
// nearly always.
type turns struct {
	mu      sync.Mutex
	most    int     // at once; 0 before the first
	held    []*turn // in the order in which they were given
	waiting []*turn
	timer   *time.Timer // runs while somebody waits
}

// turn is one subscriber's, who asks for it again and again. It is used by one goroutine
// at a time, and turns.mu guards all but slow.
type turn struct {
	stage turnStage
	ready chan struct{} // closed when it is given, of one who had to wait
	given time.Time
	begun time.Time // when the subscriber took it; zero: it has not
	// slow: the last one took too long, most likely since the peer reads slowly. That needs
	// no processor, so its turns are no time of others.
	slow bool
}

type turnStage uint8

const (
	turnNone turnStage = iota
	turnWaits
	turnGiven
	turnOver // it took too long
)

// ask asks for a turn, if that has not been done. It returns nil where it is given, and
// otherwise what is closed when it is.
func (t *turns) ask(w *turn) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch w.stage {
	case turnGiven, turnOver:
		return nil
	case turnWaits:
		return w.ready
	case turnNone:
	}
	if t.most == 0 {
		t.most = max(1, runtime.GOMAXPROCS(0)-1)
	}
	if len(t.held) < t.most {
		t.giveLocked(w)
		return nil
	}
	w.stage, w.ready = turnWaits, make(chan struct{})
	t.waiting = append(t.waiting, w)
	if len(t.waiting) == 1 {
		t.watchLocked()
	}
	return w.ready
}

// end gives a turn back, or asks for none any more.
func (t *turns) end(w *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch w.stage {
	case turnGiven:
		t.held = without(t.held, w)
		t.passLocked()
	case turnWaits:
		t.waiting = without(t.waiting, w)
	case turnNone, turnOver:
	}
	w.stage = turnNone
}

// passLocked gives turns to those who wait.
func (t *turns) passLocked() {
	for len(t.held) < t.most && len(t.waiting) > 0 {
		next := t.waiting[0]
		t.waiting[0] = nil
		t.waiting = t.waiting[1:]
		t.giveLocked(next)
		close(next.ready)
	}
}

func (t *turns) giveLocked(w *turn) {
	if w.slow {
		w.stage = turnOver
		return
	}
	w.stage, w.given = turnGiven, time.Now()
	t.held = append(t.held, w)
}

// watchLocked has turns end that take too long.
func (t *turns) watchLocked() {
	if t.timer == nil {
		t.timer = time.AfterFunc(turnTime, t.watch)
		return
	}
	t.timer.Reset(turnTime)
}

func (t *turns) watch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for len(t.held) > 0 && now.Sub(t.held[0].given) >= turnTime {
		t.held[0].stage = turnOver
		t.held = t.held[1:]
	}
	t.passLocked()
	if len(t.waiting) > 0 {
		t.watchLocked()
	}
}

func without(list []*turn, w *turn) []*turn {
	return slices.DeleteFunc(list, func(other *turn) bool { return other == w })
}

// takeTurn asks for a turn where one is needed. It returns nil where it is one's own, and
// otherwise what is closed when it is.
func (s *Subscription) takeTurn() <-chan struct{} {
	if s.state.pos.Known > 0 || s.narrow != nil {
		return nil
	}
	if s.turn == nil {
		s.turn = &turn{}
	}
	ready := s.publisher.source.Shared.turns.ask(s.turn)
	if ready == nil {
		s.turn.begun = time.Now()
	}
	return ready
}

// giveBack ends a turn that was taken.
func (s *Subscription) giveBack() {
	w := s.turn
	if w == nil || w.begun.IsZero() {
		return
	}
	w.slow, w.begun = time.Since(w.begun) > turnTime, time.Time{}
	s.endTurn()
	if s.state.pos.Known > 0 {
		s.turn = nil
	}
}

func (s *Subscription) endTurn() {
	if s.turn != nil {
		s.publisher.source.Shared.turns.end(s.turn)
	}
}

// awaitTurn returns when it is one's turn, or when Poll finds out that none is needed.
func (s *Subscription) awaitTurn(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ends.Over:
	case <-s.revoked:
	case <-s.pause.turn:
	}
	return nil
}
