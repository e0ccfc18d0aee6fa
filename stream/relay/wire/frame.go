package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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

// revisions are the revisions of any holder: an edge passes them on without reading them.
var revisions = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// member is a member of a JSON object, as text.
type member struct {
	name  string
	value []byte
}

// kinds are the members of a message of the stream protocol.
var kinds = map[string]jsontext.Kind{
	"actions": '[', "warnings": '[', "cleared": '[', "kinds": '[', "rev": '"', "synced": 't', "reset": 't',
}

// parse reads a message of the stream protocol. Members that this version does not know
// are left out: a mux and an export add members of their own to a message.
// A line break, which JSON permits between tokens, is refused: a transport would end the
// message there.
func parse(text []byte) (*delivery.Frame, error) {
	if bytes.ContainsAny(text, "\r\n") {
		return nil, errors.New("a line break")
	}
	members, err := split(text)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return kinds[m.name] == 0 })
	if len(known) < len(members) {
		text = join(known)
		if members, err = split(text); err != nil {
			return nil, err
		}
	}
	f := &delivery.Frame{JSON: text}
	for i, m := range members {
		if jsontext.Value(m.value).Kind() != kinds[m.name] || slices.ContainsFunc(members[:i], func(other member) bool { return other.name == m.name }) {
			return nil, fmt.Errorf("member %q", m.name)
		}
		switch m.name {
		case "actions":
			f.Actions = m.value[1 : len(m.value)-1]
		case "warnings":
			f.Warnings = m.value[1 : len(m.value)-1]
		case "cleared":
			f.Cleared = m.value[1 : len(m.value)-1]
		case "kinds":
			f.Kinds = m.value[1 : len(m.value)-1]
		case "synced":
			f.Synced = true
		case "reset":
			f.Reset = true
		case "rev":
			if f.Rev = string(m.value[1 : len(m.value)-1]); !revisions.MatchString(f.Rev) {
				return nil, errors.New("not a revision")
			}
		}
	}
	return f, nil
}

// split returns the members of a JSON object. The text is valid if there is no error.
func split(text []byte) ([]member, error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if in.PeekKind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	var members []member
	for in.PeekKind() != '}' {
		token, err := in.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String() // before the decoder goes on
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		end := in.InputOffset()
		members = append(members, member{name, text[end-int64(len(value)) : end : end]})
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text[in.InputOffset():])) > 0 {
		return nil, errors.New("more than one JSON object")
	}
	return members, nil
}

func join(members []member) []byte {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(append(text, '"'), m.name...), '"', ':'), m.value...)
	}
	return append(text, '}')
}

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
