package edge

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"sync"
	"weak"

	"graphview.dev/graphview/delivery"
)

// largeBytes is the size from which on equal messages that came several times are held
// once: subscribers that stopped reading at different times may be sent a large object
// after it has left the relay's queue.
const largeBytes = 16 << 10

// largeFrames finds such messages while they are referenced.
type largeFrames struct {
	mu     sync.Mutex
	seed   maphash.Seed // set with frames
	frames map[uint64]weak.Pointer[delivery.Frame]
}

// same returns an equal message that is referenced, or else f.
func (l *largeFrames) same(f *delivery.Frame) *delivery.Frame {
	if len(f.JSON) < largeBytes {
		return f
	}
	key, held := l.find(f)
	if held != nil {
		if held.Rev == f.Rev && held.Synced == f.Synced && held.Reset == f.Reset && bytes.Equal(held.JSON, f.JSON) {
			return held
		}
		return f // of the same hash, by chance
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames[key] = weak.Make(f)
	runtime.AddCleanup(f, l.forget, key)
	return f
}

func (l *largeFrames) find(f *delivery.Frame) (key uint64, held *delivery.Frame) {
	l.mu.Lock()
	if l.frames == nil {
		l.seed, l.frames = maphash.MakeSeed(), make(map[uint64]weak.Pointer[delivery.Frame])
	}
	seed := l.seed
	l.mu.Unlock()
	key = maphash.Bytes(seed, f.JSON)
	l.mu.Lock()
	defer l.mu.Unlock()
	return key, l.frames[key].Value()
}

// forget is called when a message is not referenced any more.
func (l *largeFrames) forget(key uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frames[key].Value() == nil {
		delete(l.frames, key)
	}
}
