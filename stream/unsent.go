package stream

import (
	"sync"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

var unsentBytes = budget.Declare("unsent_bytes", "bytes of messages that are being written at once to all subscribers", 160<<20)

const (
	// unsentSmall is a message that is not worth being counted.
	unsentSmall = 4 << 10
	// slowAfter is when a message that is still being written makes its reader slow.
	slowAfter = time.Second
)

// unsent bounds the bytes of messages that are being written. A message counts once,
// however many it is written to. When there are too many, those go who have taken
// longest for theirs: they may continue with a new connection.
type unsent struct {
	limit int64

	mu            sync.Mutex
	bytes         int64
	frames        map[*delivery.Frame]int // by how many it is being written
	first, latest *writing                // in the order in which they began
}

// writing is one message on its way to one peer. A transport has one, and uses it
// again and again.
type writing struct {
	cut func() // ends the peer's stream, and does not wait

	// unsent.mu guards these. No frame: none is counted.
	frame          *delivery.Frame
	since          time.Time
	previous, next *writing
}

func newUnsent(limit int64) *unsent {
	return &unsent{limit: limit, frames: make(map[*delivery.Frame]int)}
}

// begin counts a message that is about to be written. It must be ended.
func (u *unsent) begin(w *writing, frame *delivery.Frame) {
	size := int64(len(frame.JSON))
	if size < unsentSmall {
		return
	}
	now := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	w.frame, w.since = frame, now
	w.previous, w.next = u.latest, nil
	if u.latest != nil {
		u.latest.next = w
	} else {
		u.first = w
	}
	u.latest = w
	if u.frames[frame]++; u.frames[frame] == 1 {
		u.bytes += size
	}
	excess := u.bytes - u.limit
	if excess <= 0 {
		return
	}
	_ = unsentBytes.Exceed() // the slow ones cannot be told
	for slow := u.first; slow != nil && excess > 0 && now.Sub(slow.since) >= slowAfter; slow = slow.next {
		if u.frames[slow.frame] == 1 {
			excess -= int64(len(slow.frame.JSON))
		}
		slow.cut()
	}
}

// end is called when the message was written, or cannot be.
func (u *unsent) end(w *writing) {
	if w.frame == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if w.previous != nil {
		w.previous.next = w.next
	} else {
		u.first = w.next
	}
	if w.next != nil {
		w.next.previous = w.previous
	} else {
		u.latest = w.previous
	}
	if u.frames[w.frame]--; u.frames[w.frame] == 0 {
		delete(u.frames, w.frame)
		u.bytes -= int64(len(w.frame.JSON))
	}
	w.frame, w.previous, w.next = nil, nil, nil
}
