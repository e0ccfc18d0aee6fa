package delivery

import "time"

// Frame is one server message of the stream protocol, encoded. Frames are
// shared between subscribers: never modify their bytes.
type Frame struct {
	// JSON is the whole message, one JSON object of at most MaxFrameBytes
	// unless a single action is larger.
	JSON []byte
	// Actions, Warnings and Cleared are the elements of the arrays of those names in
	// JSON, separated by commas and without the brackets; empty if absent.
	Actions, Warnings, Cleared []byte
	// Kinds are those of the member of that name.
	Kinds []byte
	// Rev, Synced and Reset are the members of those names.
	Rev    string
	Synced bool
	Reset  bool
	// Received is when the oldest of the events came in that a change tells of; zero
	// for frames of a graph that is sent whole, and for what is no change.
	Received time.Time

	shared bool // between views too: see largeFrames
}

// MaxFrameBytes bounds a message on the wire.
const MaxFrameBytes = 1 << 20

// WithoutSynced returns the same message without the member of that name.
func (f *Frame) WithoutSynced() *Frame {
	b := newFrameBuilder(f.Reset)
	if len(f.Actions) > 0 {
		b.buf, b.count = append([]byte(actionsOpen), f.Actions...), 1
	}
	b.set, b.cleared, b.kinds = f.Warnings, f.Cleared, f.Kinds
	b.close(f.Rev, false)
	if len(b.frames) == 0 {
		return &Frame{JSON: []byte("{}")}
	}
	out := b.frames[0]
	out.Received = f.Received
	return out
}
