package edge

const (
	// minWindow is the number of bytes that a subscriber may have on the way and unread. It
	// bounds the memory for a subscriber that does not read.
	minWindow = 64 << 10
	// maxWindow is the window of a subscriber that reads a large graph fast: what a path
	// with a bandwidth of 80 MB/s and a round trip of 100 ms needs.
	maxWindow = 8 << 20
)

// credit is a channel's window. It grows while a graph is sent whole, by the bytes that the
// subscriber has read of it: so it doubles with each round trip, and a subscriber that
// stops to read holds no more than it has read before.
type credit struct {
	granted int // bytes that the holder may still send
	walked  int // bytes that were read of a graph that is not complete
}

func newCredit() credit { return credit{granted: minWindow} }

// spend notes bytes that have arrived.
func (c *credit) spend(bytes int) { c.granted -= bytes }

// consume records that the subscriber has read bytes. Complete means that they complete the graph or a
// change. It returns the number of bytes to grant, 0 for none yet.
func (c *credit) consume(bytes int, complete bool, unread int) (grant int) {
	if c.walked += bytes; complete {
		c.walked = 0
	}
	window := min(minWindow+c.walked, maxWindow)
	if grant = window - c.granted - unread; grant < window/2 {
		return 0
	}
	c.granted += grant
	return grant
}
