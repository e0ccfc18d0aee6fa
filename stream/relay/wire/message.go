package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"graphview.dev/graphview/budget"
)

// messageBytes bounds the payload of one message. A message of the stream protocol
// has at most a mebibyte, unless a single object is larger.
var messageBytes = budget.Declare("relay_message_bytes", "bytes of one message between replicas", 32<<20)

// Type says what a message is. A lower-case type is optional: a replica that does not
// know it ignores it.
type Type byte

// Optional reports whether a message of an unknown type is ignored.
func (t Type) Optional() bool { return t >= 'a' && t <= 'z' }

// Leaving says that the replica that sends it is about to stop. The subscribers of a holder
// move as soon as another replica has the graph. Those of an edge are about to end, so the
// holder need not wait for them.
const Leaving Type = 'l'

// The edge's messages.
const (
	// Open begins a channel; its payload is an Opening.
	Open Type = 'O'
	// Tell has more answers; its payload is an Answers.
	Tell Type = 'T'
	// More grants a channel a number of bytes.
	More Type = 'M'
	// Close ends a channel.
	Close Type = 'C'
)

// The holder's messages.
const (
	// Hello is the first message of a relay; its payload is a Greeting.
	Hello Type = 'H'
	// Hold says that the holder has the view; its payload is a Held.
	Hold Type = 'V'
	// Synced says that the holder's graph is complete, unless Hold has said so.
	Synced Type = 'S'
	// Stale says that the holder has lost its API server, or has it back; its payload is a
	// Staleness. Its subscribers move to a replica that has an API server and the graph.
	Stale Type = 's'
	// Ask asks for answers about places; its payload is a list of Place.
	Ask Type = 'A'
	// Frame is a message of the stream protocol; see AppendFrame.
	Frame Type = 'F'
	// Refer sends a frame of the Queue on further channels; see AppendRefer.
	Refer Type = 'R'
	// Found answers an Opening with a Key; its payload is a Finding.
	Found Type = 'D'
	// End ends a channel, or the relay if the channel is 0; its payload is an Ending.
	End Type = 'E'
)

// Message is one of a relay.
type Message struct {
	Type    Type
	Channel uint64
	Payload []byte
}

// AppendRefer appends a message that sends the frame with a number on channels, which is
// a list of numbers as encoded by binary.AppendUvarint.
func AppendRefer(dst []byte, number uint64, channels []byte) []byte {
	return append(Append(dst, Refer, number, len(channels)), channels...)
}

// Append appends the beginning of a message, which its payload follows.
func Append(dst []byte, t Type, channel uint64, payload int) []byte {
	dst = append(dst, byte(t))
	dst = binary.AppendUvarint(dst, channel)
	return binary.AppendUvarint(dst, uint64(payload)) //nolint:gosec // a length
}

// Reader reads the messages of one side.
type Reader struct{ r *bufio.Reader }

// headBytes is the buffer for small messages; larger payloads are read into their own
// memory. Each relay has one at both ends, which is idle most of the time.
const headBytes = 2 << 10

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, headBytes)} }

// Next reads one message, whose payload is the caller's. The error is io.EOF at the end of
// a message, where the other side may hang up.
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

// Each calls take with every message until there are no more, or take returns an error. It
// never returns nil; see Next.
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

// atOnce is the memory that is allocated for a payload before any of it has come.
const atOnce = 64 << 10

// payload reads a number of bytes. Bytes that were announced and do not come take no
// memory.
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

// Versions are the versions of the protocol that this replica speaks, separated by
// commas, the oldest one first. A version is added when an older replica would misread a
// message; what an older replica may ignore needs none, see [Type.Optional].
const Versions = "4"

// Header of an HTTP request has the versions that the edge speaks.
const Header = "Graphview-Relay"

// Path begins the path of each request of one replica to another.
const Path = "/relay"

// Pattern is the http.ServeMux pattern of a relay, with the name of the view.
const Pattern = "POST " + Path + "/namespaces/{namespace}/graphs/{name}"

// Negotiate returns the oldest version that both sides speak.
func Negotiate(own, offered string) (version string, ok bool) {
	others := strings.Split(offered, ",")
	for v := range strings.SplitSeq(own, ",") {
		if slices.Contains(others, v) {
			return v, true
		}
	}
	return "", false
}
