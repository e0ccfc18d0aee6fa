package watch

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/protobuf"
)

// eventReader reads the events of a watch in one encoding.
type eventReader interface {
	// next returns the type of the next event, and its object, which is valid until the next call.
	next() (kind apiwatch.EventType, object []byte, err error)
	// read reads an object of an event.
	read(d *document, object []byte, secret bool) error
	// status reads the object of an ERROR event.
	status(to *metav1.Status, object []byte) error
	// unread returns the bytes that have been read, but are not part of an event yet.
	unread() []byte
}

// newEventReader waits for the first byte of a watch. In Protobuf that is of the length of the first event: a
// brace would be two gigabytes.
func newEventReader(in io.Reader, m *protobuf.Message, secret bool) eventReader {
	if m == nil {
		return jsonEvents{jsontext.NewDecoder(in, tolerant...)}
	}
	w := &window{r: in, secret: secret}
	if begin, err := w.peek(1); err == nil && begin[0] != '{' {
		return &protobufEvents{window: w, message: m}
	}
	return jsonEvents{jsontext.NewDecoder(w, tolerant...)}
}

// jsonEvents reads a sequence of {"type":…,"object":…}.
type jsonEvents struct{ dec *jsontext.Decoder }

func (r jsonEvents) next() (kind apiwatch.EventType, object []byte, err error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return "", nil, malformed(err)
	}
	s, ok := jsontree.ScanObject(raw)
	if !ok {
		return "", nil, errFrame
	}
	for m, more := s.Member(); more; m, more = s.Member() {
		switch string(m.Name) {
		case "type":
			said, _ := jsontree.String(m.Value)
			kind = apiwatch.EventType(said)
		case "object":
			object = m.Value
		}
	}
	if object == nil || kind == "" {
		return "", nil, errFrame
	}
	return kind, object, nil
}

// read reads an object. Each object in a watch has its kind. If a server leaves it out, the object is invalid.
func (r jsonEvents) read(d *document, object []byte, secret bool) error {
	return d.read(object, typeMeta{}, secret)
}

func (r jsonEvents) status(to *metav1.Status, object []byte) error { return json.Unmarshal(object, to) }

func (r jsonEvents) unread() []byte { return r.dec.UnreadBuffer() }

// protobufEvents reads a sequence of lengths, in four bytes, and events. Each has an object as in an answer.
type protobufEvents struct {
	window  *window
	message *protobuf.Message
}

func (r *protobufEvents) next() (kind apiwatch.EventType, object []byte, err error) {
	r.window.shrink()
	length, err := r.window.peek(4)
	if err != nil {
		return "", nil, err
	}
	size := int(binary.BigEndian.Uint32(length))
	// The length stays unread until the event is there: the watch has ended within the event otherwise.
	frame, err := r.window.take(4 + size)
	if err != nil {
		return "", nil, err
	}
	said, object, err := protobuf.Event(frame[4:])
	return apiwatch.EventType(said), object, err
}

func (r *protobufEvents) read(d *document, object []byte, secret bool) error {
	apiVersion, kind, raw, err := protobuf.Unwrap(object)
	if err != nil {
		return err
	}
	return d.readProtobuf(raw, r.message, quoted(string(apiVersion), string(kind)), secret)
}

func (r *protobufEvents) status(to *metav1.Status, object []byte) error {
	_, kind, raw, err := protobuf.Unwrap(object)
	if err != nil {
		return err
	}
	if string(kind) != "Status" {
		return fmt.Errorf("a %q: %w", kind, errFrame)
	}
	return to.Unmarshal(raw)
}

func (r *protobufEvents) unread() []byte { return r.window.unread() }
