package delivery

import (
	"runtime"
	"sync"
	"weak"

	"graphview.dev/graphview/graph"
)

// largeContent is the size, in bytes, from which on an object has a separate message, which all
// subscribers share. A subscriber that does not read then holds only a position and a small message,
// however large the objects are.
const largeContent = 16 << 10

// largeFrames finds the messages of large objects while a subscriber holds them.
type largeFrames struct {
	mu     sync.Mutex
	frames map[largeKey]weak.Pointer[Frame]
}

// largeKey identifies the content of a message. Content is compared as a pointer, since it is
// immutable.
type largeKey struct {
	vertex graph.Key
	object Object
	part   any // the part that the view selects, or a pointer to its first byte
}

// largeKeyOf returns the key of a change, and reports whether its content is large.
func largeKeyOf(c *graph.Change) (largeKey, bool) {
	if c.Op != graph.SetVertex {
		return largeKey{}, false
	}
	object, _ := c.Payload.(Object)
	switch {
	case object == nil || payloadSize(c) < largeContent:
		return largeKey{}, false
	default:
		part := c.Part
		if text, ok := part.([]byte); ok {
			part = &text[0]
		}
		return largeKey{c.Vertex, object, part}, true
	}
}

// frame returns the message of a key. It encodes the message if no subscriber holds it.
func (l *largeFrames) frame(key largeKey, encode func() *Frame) *Frame {
	if f := l.find(key); f != nil {
		return f
	}
	made := encode() // slow, so without the lock: two goroutines may do the same
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.frames[key].Value(); f != nil {
		return f
	}
	if l.frames == nil {
		l.frames = make(map[largeKey]weak.Pointer[Frame])
	}
	l.frames[key] = weak.Make(made)
	runtime.AddCleanup(made, l.forget, key)
	return made
}

func (l *largeFrames) find(key largeKey) *Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames[key].Value()
}

// forget is called when a message is garbage.
func (l *largeFrames) forget(key largeKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frames[key].Value() == nil {
		delete(l.frames, key)
	}
}
