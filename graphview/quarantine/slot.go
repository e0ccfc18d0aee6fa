package quarantine

import (
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	// slots is the number of pieces of work that are noted at the same time. Further work is not
	// noted.
	slots        = 256
	slotSize     = 1 << 10
	fileSize     = slots * slotSize
	maxKind      = 128
	maxNamespace = 128
	maxName      = 512
)

// slot is one piece of work in the file.
type slot struct {
	// began is in nanoseconds since 1970, as of the last time that the process was known
	// to be alive; 0 if there is no work. It is written last, and cleared first.
	began atomic.Int64
	// heap is the heap of the process at that time, in bytes. In the first slot limit is the memory
	// limit.
	heap, limit uint64
	version     uint64
	lengths     [3]uint16
	names       [slotSize - 4*8 - 6]byte
}

// slotsOf are those of a file.
func slotsOf(file []byte) []slot {
	return unsafe.Slice((*slot)(unsafe.Pointer(unsafe.SliceData(file))), len(file)/slotSize) //nolint:gosec // files are mapped, or read, at multiples of eight
}

// write fills a slot that the caller owns, and whose work does not begin before began is stored.
func (s *slot) write(w Work, heap uint64) {
	of := w.subject()
	s.version, s.heap = w.Version, heap
	at := 0
	for i, name := range [...]string{of.Kind, of.Namespace, of.Name} {
		s.lengths[i] = uint16(len(name)) //nolint:gosec // see maxName
		at += copy(s.names[at:], name)
	}
}

// read is the work of a slot.
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

// interrupted is work that was under way at an end, and for how long.
type interrupted struct {
	work   Work
	lasted time.Duration
}

// underWay reads what a process has left. A file of another size is no journal. Work that
// began after the process was last alive is not to blame, and neither is work during which the
// memory of a full process did not grow.
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
