package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"graphview.dev/graphview/delivery"
)

// flagKeep marks a frame that both ends add to their Queue.
const flagKeep = 1

// maxAge is the largest age of a frame that is believed.
const maxAge = 24 * time.Hour

var errFrame = errors.New("relay frame: cut short")

// AppendFrame appends the head of a Frame message; the message goes on with f.JSON.
// Received is sent as an age, since the clocks of two replicas differ.
func AppendFrame(dst []byte, channel uint64, f *delivery.Frame, keep bool, now time.Time) []byte {
	var head [1 + binary.MaxVarintLen64]byte
	if keep {
		head[0] = flagKeep
	}
	age := time.Duration(0)
	if !f.Received.IsZero() {
		age = max(1, now.Sub(f.Received))
	}
	length := 1 + binary.PutUvarint(head[1:], uint64(age))
	return append(Append(dst, Frame, channel, length+len(f.JSON)), head[:length]...)
}

// ParseFrame reads the payload of a Frame message, which becomes the frame's own. The
// JSON is parsed: nothing that the other side says about its parts is believed.
func ParseFrame(payload []byte, now time.Time) (f *delivery.Frame, keep bool, err error) {
	if len(payload) == 0 {
		return nil, false, errFrame
	}
	age, size := binary.Uvarint(payload[1:])
	if size <= 0 {
		return nil, false, errFrame
	}
	if f, err = parse(payload[1+size:]); err != nil {
		return nil, false, fmt.Errorf("relay frame: %w", err)
	}
	if age > 0 && age < uint64(maxAge) {
		f.Received = now.Add(-time.Duration(age))
	}
	return f, payload[0]&flagKeep != 0, nil
}
