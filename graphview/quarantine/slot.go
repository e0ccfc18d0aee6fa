package quarantine

import (
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	// slots is the number of slots: one for the heartbeat, and one for each piece of work in
	// progress. Work that finds no free slot is not recorded.
	slots        = 256
	slotSize     = 1 << 10
	fileSize     = slots * slotSize
	maxKind      = 128
	maxNamespace = 128
	maxName      = 512
)

// slot is one piece of work in the file, or the heartbeat.
type slot struct {
	// began is the time of the last heartbeat before the work, in nanoseconds since 1970; 0 if
	// there is no work. It is written last, and cleared first.
	began atomic.Int64
	// heap is the heap of the process at that time, in bytes. limit is the memory limit. Only the
	// first slot has it.
	heap, limit uint64
	version     uint64
	lengths     [3]uint16
	names       [slotSize - 4*8 - 6]byte
}

// slotsOf returns the bytes of a file as slots, without a copy.
func slotsOf(file []byte) []slot {
	return unsafe.Slice((*slot)(unsafe.Pointer(unsafe.SliceData(file))), len(file)/slotSize) //nolint:gosec // files are mapped, or read, at multiples of eight
}

// write stores the work and the heap in a slot of the caller. The caller stores began after that.
func (s *slot) write(w Work, heap uint64) {
	of := w.subject()
	s.version, s.heap = w.Version, heap
	at := 0
	for i, name := range [...]string{of.Kind, of.Namespace, of.Name} {
		s.lengths[i] = uint16(len(name)) //nolint:gosec // see maxName
		at += copy(s.names[at:], name)
	}
}

// read returns the work of a slot.
func (s *slot) read() Work {
	w := Work{Version: s.version}
	at := 0
	for i, name := range [...]*string{&w.Kind, &w.Namespace, &w.Name} {
		n := min(int(s.lengths[i]), maxName, len(s.names)-at)
		*name = string(s.names[at:][:n])
		at += n
	}
	return w
}

// interrupted is work that was in progress when the process ended, and how long it had lasted.
type interrupted struct {
	work   Work
	lasted time.Duration
}

// underWay returns the work in the journal of a process that may have ended it. A file of another size
// is not a journal. Work that began after the last heartbeat is left out, and so is work during which
// the heap of a full process did not grow.
func underWay(file []byte) []interrupted {
	if len(file) != fileSize {
		return nil
	}
	all := slotsOf(file)
	end := Memory{all[0].heap, all[0].limit}
	alive := all[0].began.Load()
	var out []interrupted
	for i := range all[1:] {
		s := &all[1+i]
		if began := s.began.Load(); began != 0 && began < alive && end.filledSince(s.heap) {
			out = append(out, interrupted{s.read(), time.Duration(alive - began)})
		}
	}
	return out
}
