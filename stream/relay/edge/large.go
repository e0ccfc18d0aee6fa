package edge

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"sync"
	"weak"

	"graphview.dev/graphview/delivery"
)

// largeBytes is the size of a message from which on subscribers hold it together though
// it came to each of them: so one that does not read holds a position and a small message
// of its own here too, however large the objects are.
const largeBytes = 16 << 10

// largeFrames finds such messages for as long as somebody holds them.
type largeFrames struct {
	mu     sync.Mutex
	seed   maphash.Seed // set with frames
	frames map[uint64]weak.Pointer[delivery.Frame]
}

// same returns a message that says what f does, which is f where nobody holds another.
func (l *largeFrames) same(f *delivery.Frame) *delivery.Frame {
	if len(f.JSON) < largeBytes {
		return f
	}
	key, held := l.find(f)
	if held != nil {
		if held.Rev == f.Rev && held.Synced == f.Synced && held.Reset == f.Reset && bytes.Equal(held.JSON, f.JSON) {
			return held
		}
		return f // of the same hash, which nobody can aim for
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

// forget is called when nobody holds a message any more.
func (l *largeFrames) forget(key uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frames[key].Value() == nil {
		delete(l.frames, key)
	}
}
