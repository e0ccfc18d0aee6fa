package wire

import (
	"errors"
	"slices"

	"graphview.dev/graphview/delivery"
)

const (
	// queueFrames and queueBytes bound a Queue, but for its newest frame.
	queueFrames = 64
	queueBytes  = 1 << 20
)

// Queue has the newest frames that were sent with their bytes on one relay. Both ends add
// the same frames in the same order, and forget the oldest ones by the same rule, as HPACK
// does with its table. So a frame that further channels send is a number, and neither end
// has to acknowledge one.
type Queue struct {
	frames []*delivery.Frame
	first  uint64 // the number of frames[0]
	bytes  int
}

var errNumber = errors.New("relay frame: its number is not in the queue")

// Add appends a frame.
func (q *Queue) Add(f *delivery.Frame) {
	q.frames = append(q.frames, f)
	q.bytes += len(f.JSON)
	for len(q.frames) > queueFrames || q.bytes > queueBytes && len(q.frames) > 1 {
		q.bytes -= len(q.frames[0].JSON)
		q.frames[0] = nil
		q.frames = q.frames[1:]
		q.first++
	}
}

// Number returns the number of a frame of the queue.
func (q *Queue) Number(f *delivery.Frame) (number uint64, ok bool) {
	for i, queued := range slices.Backward(q.frames) {
		if queued == f {
			return q.first + uint64(i), true //nolint:gosec // an index
		}
	}
	return 0, false
}

// Frame returns the frame with a number.
func (q *Queue) Frame(number uint64) (*delivery.Frame, error) {
	if number < q.first || number-q.first >= uint64(len(q.frames)) {
		return nil, errNumber
	}
	return q.frames[number-q.first], nil
}
