package delivery

import (
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/weakmap"
)

// Frame is one encoded server message of the stream protocol. Frames are shared between
// subscribers: their bytes must not be modified.
type Frame struct {
	// JSON is the whole message, one JSON object of at most MaxFrameBytes
	// unless a single action is larger.
	JSON []byte
	// Actions, Warnings and Kinds are the elements of the arrays "actions", "warnings" and
	// "kinds" in JSON, separated by commas and without the brackets. They are empty if absent.
	Actions, Warnings, Kinds []byte
	// Rev, Synced and Reset are the members "rev", "synced" and "reset".
	Rev    string
	Synced bool
	Reset  bool
	// Received is when the oldest event of a change was received. It is zero for frames of a whole
	// graph and for frames without a change of the graph.
	Received time.Time

	shared bool // also between views, see largeFrames
}

// MaxFrameBytes is the maximum size of a message, unless a single action is larger.
const MaxFrameBytes = 1 << 20

// largeContent is the size in bytes from which an object gets a message of its own, which all
// subscribers share. The memory for a subscriber that stops reading, a position and a small message,
// then does not depend on the size of the objects.
const largeContent = 16 << 10

// largeFrames caches the message of a large object for as long as any subscriber holds it.
type largeFrames = weakmap.Map[largeKey, Frame]

// largeKey identifies the message of a large object. Objects and parts are immutable, so their
// pointers are compared.
type largeKey struct {
	vertex graph.Key
	object Object
	part   any  // the part that the view selects, or a pointer to its first byte
	tags   bool // the vertex has the tag of its content
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
		return largeKey{vertex: c.Vertex, object: object, part: part}, true
	}
}
