package edge

import (
	"bytes"
	"hash/maphash"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/weakmap"
)

// largeBytes is the size from which on equal messages that came several times are held
// once: subscribers that stopped reading at different times may be sent a large object
// after it has left the relay's queue.
const largeBytes = 16 << 10

// largeFrames finds such messages by their hash, while they are referenced.
type largeFrames = weakmap.Map[uint64, delivery.Frame]

var largeSeed = maphash.MakeSeed()

// held returns an equal message that is referenced, or else f.
func (c *Client) held(f *delivery.Frame) *delivery.Frame {
	if len(f.JSON) < largeBytes {
		return f
	}
	same := c.large.Add(maphash.Bytes(largeSeed, f.JSON), f)
	if same.Rev == f.Rev && same.Synced == f.Synced && same.Reset == f.Reset && bytes.Equal(same.JSON, f.JSON) {
		return same
	}
	return f // of the same hash, by chance
}
