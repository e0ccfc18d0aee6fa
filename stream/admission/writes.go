package admission

import (
	"sync"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

var unsentBytes = budget.Declare("unsent_bytes", "bytes of messages that are being written at once to all subscribers", 160<<20)

const (
	// smallWrite is the size below which a message is not counted.
	smallWrite = 4 << 10
	// slowAfter is the time after which a message that is still being written makes its
	// reader slow.
	slowAfter = time.Second
)

// WriteBudget bounds the bytes of messages that are being written. A message counts once,
// however many subscribers it is written to. If the bound is exceeded, the readers that have
// taken longest for their message are cut; they may continue with a new connection.
type WriteBudget struct {
	limit int64

	mu            sync.Mutex
	bytes         int64
	frames        map[*delivery.Frame]int // the number of writes of each
	first, latest *PendingWrite           // in the order in which they began
}

// PendingWrite is one message on its way to one peer. A transport has one and reuses it.
type PendingWrite struct {
	// Cut ends the peer's stream without waiting.
	Cut func()

	unread *delivery.Frame // stands for the bytes of BeginUnread

	// WriteBudget.mu guards these. frame is nil while no message is counted.
	frame          *delivery.Frame
	size           int64
	since          time.Time
	previous, next *PendingWrite
}

// NewWriteBudget returns a budget of limit bytes; 0 means the default.
func NewWriteBudget(limit int64) *WriteBudget {
	if limit == 0 {
		limit = unsentBytes.Limit()
	}
	return &WriteBudget{limit: limit, frames: make(map[*delivery.Frame]int)}
}

// Begin counts a message that is about to be written. The caller calls End afterwards.
func (b *WriteBudget) Begin(w *PendingWrite, frame *delivery.Frame) {
	if size := int64(len(frame.JSON)); size >= smallWrite {
		b.begin(w, frame, size)
	}
}

// BeginUnread counts bytes of a message for one peer alone that wait while the peer reads others.
// The caller calls End afterwards.
func (b *WriteBudget) BeginUnread(w *PendingWrite, size int64) {
	if w.unread == nil {
		w.unread = &delivery.Frame{}
	}
	b.begin(w, w.unread, size)
}

func (b *WriteBudget) begin(w *PendingWrite, frame *delivery.Frame, size int64) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	w.frame, w.size, w.since = frame, size, now
	w.previous, w.next = b.latest, nil
	if b.latest != nil {
		b.latest.next = w
	} else {
		b.first = w
	}
	b.latest = w
	if b.frames[frame]++; b.frames[frame] == 1 {
		b.bytes += size
	}
	excess := b.bytes - b.limit
	if excess <= 0 {
		return
	}
	_ = unsentBytes.Exceed() // only for the metric: a reader that is cut receives no error
	for slow := b.first; slow != nil && excess > 0 && now.Sub(slow.since) >= slowAfter; slow = slow.next {
		if b.frames[slow.frame] == 1 {
			excess -= slow.size
		}
		slow.Cut()
	}
}

// End is called when the message was written or the write failed.
func (b *WriteBudget) End(w *PendingWrite) {
	if w.frame == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.previous != nil {
		w.previous.next = w.next
	} else {
		b.first = w.next
	}
	if w.next != nil {
		w.next.previous = w.previous
	} else {
		b.latest = w.previous
	}
	if b.frames[w.frame]--; b.frames[w.frame] == 0 {
		delete(b.frames, w.frame)
		b.bytes -= w.size
	}
	w.frame, w.previous, w.next = nil, nil, nil
}
