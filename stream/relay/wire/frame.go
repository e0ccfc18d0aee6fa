package wire

import (
	"encoding/binary"
	"errors"
	"time"

	"graphview.dev/graphview/delivery"
)

// Sent is a frame as it was sent.
type Sent struct {
	Frame *delivery.Frame
	// Last ends a delivery: there is no more before More is asked for.
	Last bool
}

// parts are those of a frame's message that are sent as where they are in it.
const parts = 3

const (
	flagSynced = 1 << iota
	flagReset
	flagLast
)

var (
	errFrame = errors.New("a frame of another replica is cut short, or names parts that it does not have")
	errParts = errors.New("a frame's actions, warnings or kinds are no part of its message")
)

// AppendFrame appends what precedes the JSON of a frame on the wire: the whole message
// is that, and then the frame's JSON. Received is sent as an age, since the clocks of
// two replicas differ.
func AppendFrame(dst []byte, channel uint64, s Sent, now time.Time) ([]byte, error) {
	f := s.Frame
	flags, age := byte(0), time.Duration(0)
	if f.Synced {
		flags |= flagSynced
	}
	if f.Reset {
		flags |= flagReset
	}
	if s.Last {
		flags |= flagLast
	}
	if !f.Received.IsZero() {
		age = max(1, now.Sub(f.Received))
	}
	head := make([]byte, 0, 64)
	head = append(head, flags)
	for _, n := range [2]uint64{uint64(age), uint64(len(f.Rev))} {
		head = binary.AppendUvarint(head, n)
	}
	for _, part := range [parts][]byte{f.Actions, f.Warnings, f.Kinds} {
		at, ok := offset(f.JSON, part)
		if !ok {
			return nil, errParts
		}
		head = binary.AppendUvarint(head, uint64(at)) //nolint:gosec // not negative
		head = binary.AppendUvarint(head, uint64(len(part)))
	}
	head = append(head, f.Rev...)
	return append(Append(dst, Frame, channel, len(head)+len(f.JSON)), head...), nil
}

// offset is where a part begins, which shares the memory of the whole.
func offset(whole, part []byte) (int, bool) {
	if len(part) == 0 {
		return 0, true
	}
	at := cap(whole) - cap(part)
	ok := at >= 0 && at+len(part) <= len(whole) && &whole[at] == &part[0]
	return at, ok
}

// ParseFrame reads the payload of a Frame, which becomes the frame's own.
func ParseFrame(payload []byte, now time.Time) (Sent, error) {
	if len(payload) == 0 {
		return Sent{}, errFrame
	}
	flags, rest := payload[0], payload[1:]
	var numbers [2 + 2*parts]uint64
	for i := range numbers {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return Sent{}, errFrame
		}
		numbers[i], rest = n, rest[size:]
	}
	age, rev := numbers[0], numbers[1]
	if rev > uint64(len(rest)) {
		return Sent{}, errFrame
	}
	text := rest[rev:]
	f := &delivery.Frame{
		JSON: text, Rev: string(rest[:rev]), Synced: flags&flagSynced != 0, Reset: flags&flagReset != 0,
	}
	if len(text) == 0 {
		return Sent{}, errFrame
	}
	for i, part := range [parts]*[]byte{&f.Actions, &f.Warnings, &f.Kinds} {
		var ok bool
		if *part, ok = cutOut(text, numbers[2+2*i], numbers[3+2*i]); !ok {
			return Sent{}, errFrame
		}
	}
	if age > 0 && age < uint64(24*time.Hour) {
		f.Received = now.Add(-time.Duration(age))
	}
	return Sent{Frame: f, Last: flags&flagLast != 0}, nil
}

func cutOut(text []byte, from, length uint64) ([]byte, bool) {
	if from > uint64(len(text)) || length > uint64(len(text))-from {
		return nil, false
	}
	if length == 0 {
		return nil, true
	}
	return text[from : from+length], true
}
