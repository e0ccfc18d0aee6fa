package history

import (
	"context"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// upkeep is how often Run compresses and drops segments, and writes to the Store.
const upkeep = time.Second

// Run keeps the log small until ctx ends.
func (l *Log) Run(ctx context.Context) {
	tick := time.NewTicker(upkeep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for l.flush() {
			}
			return
		case <-tick.C:
			l.KeepUp()
		}
	}
}

// KeepUp compresses full segments, drops old ones, and writes to the Store.
func (l *Log) KeepUp() {
	for _, s := range l.unpacked() {
		l.replace(s, zipper.EncodeAll(s.text, nil))
	}
	l.expire()
	l.flush()
}

var (
	// The options do not contradict each other, so there is no error.
	zipper, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	unzipper, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*maxEntry))
)

// unpacked returns the full segments that are not compressed.
func (l *Log) unpacked() (all []*segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.owners {
		for _, s := range slices.Backward(o.segments) {
			if s.packed {
				break
			}
			if s.full {
				all = append(all, s)
			}
		}
	}
	return all
}

// replace replaces the text of a full segment by the compressed one.
func (l *Log) replace(s *segment, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.dropped {
		return
	}
	before := s.bytes()
	s.text, s.packed, s.stored = slices.Clone(packed), true, 0 // the encoder's buffer is larger
	s.size = cap(s.text)
	l.chargeLocked(s.owner, s.bytes()-before)
	l.holdLocked(s.owner, s.bytes()-before)
}

// expire drops entries that are too old, and owners without entries.
func (l *Log) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states.expire(l.now())
	oldest := l.now() - l.o.Age.Microseconds()
	l.begun = max(l.begun, oldest)
	l.gaps = slices.DeleteFunc(l.gaps, func(g Gap) bool { return g.Until < oldest })
	for namespace, o := range l.owners {
		for len(o.segments) > 0 && o.segments[0].until < oldest {
			l.dropLocked(o)
		}
		if len(o.segments) == 0 && o.live <= 0 && o.since < oldest {
			l.beginLocked(o, 0) // the log itself begins later
			l.bytes -= o.bytes
			delete(l.owners, namespace)
		}
	}
}

// shrinkLocked drops the oldest segments of the owners with the most bytes until the others fit. While the Store cannot
// be written, the segments that it lacks have to fit into memory, and the owners with the most of them lose their oldest.
func (l *Log) shrinkLocked() {
	for l.bytes > l.o.Bytes-l.states.bytes && l.dropOfLargestLocked(func(o *owner) int64 { return o.bytes }) {
	}
	if l.o.Store == nil || l.o.Store.err == nil {
		return
	}
	for l.memory > DefaultBytes && l.dropOfLargestLocked(func(o *owner) int64 { return o.memory }) {
	}
}

// dropOfLargestLocked drops the oldest segment of the owner with the greatest size, and reports whether there is one.
func (l *Log) dropOfLargestLocked(size func(*owner) int64) bool {
	var largest *owner
	for _, o := range l.owners {
		if len(o.segments) > 0 && (largest == nil || size(o) > size(largest)) {
			largest = o
		}
	}
	if largest != nil {
		l.dropLocked(largest)
	}
	return largest != nil
}

// dropLocked drops the oldest segment of an owner.
func (l *Log) dropLocked(o *owner) {
	s := o.segments[0]
	s.dropped = true
	o.segments[0] = nil
	o.segments = o.segments[1:]
	l.beginLocked(o, max(o.since, s.until))
	l.dropped += uint64(s.entries) //nolint:gosec // not negative
	l.chargeLocked(o, -s.bytes())
	if s.text != nil {
		l.holdLocked(o, -int64(s.size))
	}
	if l.o.Store != nil && s.id != 0 {
		l.o.Store.drop(s.id)
	}
}
