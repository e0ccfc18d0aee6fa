package delivery

import (
	"runtime"
	"sync"
	"weak"

	"graphview.dev/graphview/graph"
)

// largeContent is the size, in bytes, of an object from which on it has a message of
// its own in a graph that is sent whole, which all share who are being sent it: so
// a subscriber that does not read holds a position and a small message of its own,
// however large the objects are.
const largeContent = 16 << 10

// largeFrames finds those messages for as long as somebody holds them.
type largeFrames struct {
	mu     sync.Mutex
	frames map[largeKey]weak.Pointer[Frame]
}

// largeKey is what such a message says. Content is compared as a pointer: what is
// shown never changes, another version is another object.
type largeKey struct {
	vertex graph.Key
	object Object
	part   any // a pointer: what the view selects of the object, or its first byte
}

// largeKeyOf is the key of a change whose content is large.
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

// frame returns the message of a key, which is made if nobody holds it.
func (l *largeFrames) frame(key largeKey, encode func() *Frame) *Frame {
	if f := l.find(key); f != nil {
		return f
	}
	made := encode() // takes long; two at the same moment may both do it
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

// forget is called when nobody holds a message any more.
func (l *largeFrames) forget(key largeKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frames[key].Value() == nil {
		delete(l.frames, key)
	}
}
