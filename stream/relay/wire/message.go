package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"graphview.dev/graphview/budget"
)

// MaxMessageBytes bounds the payload of a message, and the body of a request.
func MaxMessageBytes() int64 { return messageBytes.Limit() }

// messageBytes bounds the payload of one message. A message of the stream protocol
// has at most a mebibyte, unless a single object is larger.
var messageBytes = budget.Declare("relay_message_bytes", "bytes of one message between replicas", 32<<20)

// Type says what a message is.
type Type byte

// The edge's messages.
const (
	// Open begins a channel; its payload is an Opening.
	Open Type = 'o'
	// Tell has more answers; its payload is an Answers.
	Tell Type = 't'
	// More asks for what is new, once. Its payload is a number: of how many deliveries
	// all subscribers of the channel have had.
	More Type = 'm'
	// Close ends a channel.
	Close Type = 'c'
)

// The holder's messages.
const (
	// Hello is the first message of a relay; its payload is a Greeting.
	Hello Type = 'h'
	// Synced says that the holder's graph is complete, unless Hello has.
	Synced Type = 's'
	// Leaving says that the holder is about to stop: who reads from it should go on
	// elsewhere as soon as another one has the graph.
	Leaving Type = 'l'
	// Ask wants answers about places; its payload is a list of Place.
	Ask Type = 'a'
	// Frame is a message of the stream protocol; see AppendFrame.
	Frame Type = 'f'
	// Join says that a channel has come to where another one is, and is over: from here
	// on, what is sent on the other one is for its subscribers too. Its payload is the
	// number of the other one.
	Join Type = 'j'
	// Found answers an Opening with a Key; its payload is a Finding.
	Found Type = 'd'
	// End says that a channel is over, and why; its payload is an Ending.
	End Type = 'e'
)

// Message is one of a relay.
type Message struct {
	Type    Type
	Channel uint64
	Payload []byte
}

// Append appends the beginning of a message, which its payload follows.
func Append(dst []byte, t Type, channel uint64, payload int) []byte {
	dst = append(dst, byte(t))
	dst = binary.AppendUvarint(dst, channel)
	return binary.AppendUvarint(dst, uint64(payload)) //nolint:gosec // a length
}

// Reader reads the messages of one side.
type Reader struct{ r *bufio.Reader }

// headBytes is room for the heads of messages, and for small messages; what is larger is
// read into its own room. Each relay has it at both ends, most of the time for nothing.
const headBytes = 2 << 10

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, headBytes)} }

// Next reads one message, whose payload is the caller's. The error is io.EOF at the
// end of a message, where the other side may hang up.
func (r *Reader) Next() (Message, error) {
	first, err := r.r.ReadByte()
	if err != nil {
		return Message{}, err
	}
	m := Message{Type: Type(first)}
	if m.Channel, err = binary.ReadUvarint(r.r); err != nil {
		return Message{}, cut(err)
	}
	length, err := binary.ReadUvarint(r.r)
	if err != nil {
		return Message{}, cut(err)
	}
	if length > uint64(messageBytes.Limit()) { //nolint:gosec // positive
		return Message{}, messageBytes.Exceed()
	}
	if m.Payload, err = r.payload(int(length)); err != nil { //nolint:gosec // bounded
		return Message{}, cut(err)
	}
	return m, nil
}

// Each hands every message on until there are no more, or take returns an error. It never
// returns nil; see Next.
func (r *Reader) Each(take func(Message) error) error {
	for {
		m, err := r.Next()
		if err != nil {
			return err
		}
		if err := take(m); err != nil {
			return err
		}
	}
}

// atOnce is how much room is made for a payload before any of it has come.
const atOnce = 64 << 10

// payload reads so many bytes. What was announced and does not come takes no memory.
func (r *Reader) payload(length int) ([]byte, error) {
	out := make([]byte, 0, min(length, atOnce))
	for len(out) < length {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(length, 4*cap(out)))
			copy(grown, out)
			out = grown
		}
		n, err := io.ReadFull(r.r, out[len(out):cap(out)])
		out = out[:len(out)+n]
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cut makes the end of a stream within a message an error of its own.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read a message of another replica: %w", err)
}
