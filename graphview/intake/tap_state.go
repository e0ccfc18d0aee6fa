package intake

// TapState says which objects of its feed a tap has evaluated.
type TapState int32

const (
	// Replaying: the tap has to evaluate all objects that the watch retains.
	Replaying TapState = iota
	// Filling: the tap has evaluated these. The watch lists further ones, or some are in the backlog.
	Filling
	// Complete: the consumer has all objects. Later changes may be in the backlog.
	Complete
	// Behind: the tap was Complete, and a replay ended early.
	Behind
	// Closed: the writer ignores verdicts of the tap, and the backlog takes no more of its objects.
	Closed
)

// tapEvent is an event that changes the state of a tap.
type tapEvent int

const (
	tapReplayed    tapEvent = iota // all objects
	tapInterrupted                 // a replay of some objects or of all has ended early
	tapEnqueued                    // an object of a list is in the backlog
	tapAdvanced                    // the watch has synced, or the backlog has evaluated objects
	tapClosed
)

// State returns the state of the tap.
func (t *Tap) State() TapState { return TapState(t.state.Load()) }

// on changes the state of the tap after an event:
//
//	                 Replaying   Filling     Complete   Behind     Closed
//	tapReplayed      Filling                            Complete
//	tapInterrupted               Replaying   Behind
//	tapEnqueued                              Filling
//	tapClosed        Closed      Closed      Closed     Closed
//
// Filling becomes Complete as soon as the watch has synced and the backlog has no object of the tap.
func (t *Tap) on(ev tapEvent) {
	t.evaluator.mu.Lock()
	defer t.evaluator.mu.Unlock()
	t.onLocked(ev)
}

func (t *Tap) onLocked(ev tapEvent) {
	next := t.State()
	switch {
	case next == Closed:
		return
	case ev == tapClosed:
		next = Closed
	case ev == tapReplayed && next == Replaying, ev == tapEnqueued && next == Complete:
		next = Filling
	case ev == tapReplayed && next == Behind:
		next = Complete
	case ev == tapInterrupted && next == Filling:
		next = Replaying
	case ev == tapInterrupted && next == Complete:
		next = Behind
	}
	if next == Filling && t.pending == 0 && t.feed.listed.Load() {
		next = Complete
	}
	t.state.Store(int32(next))
}
