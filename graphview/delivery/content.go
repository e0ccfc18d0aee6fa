package delivery

import (
	"errors"

	"graphview.dev/graphview/graph"
)

// Content selects the content of an object that is sent.
type Content uint8

const (
	// WholeObject is the object, or the part of it that the view selects.
	WholeObject Content = iota
	// SummaryOnly is a summary; see Summary.
	SummaryOnly
	// KeysOnly is no content: the message has only the key of the vertex.
	KeysOnly
)

var contentNames = map[string]Content{"": WholeObject, "object": WholeObject, "summary": SummaryOnly, "none": KeysOnly}

var errContent = errors.New("content must be object, summary or none")

// ParseContent parses the query parameter content. "" means WholeObject.
func ParseContent(text string) (Content, error) {
	c, ok := contentNames[text]
	if !ok {
		return 0, errContent
	}
	return c, nil
}

// mark returns a suffix for the digest of a viewer, so that subscribers with different contents
// share no messages. It is empty for whole objects.
func (c Content) mark() string {
	switch c {
	case SummaryOnly:
		return "\x00summary"
	case KeysOnly:
		return "\x00none"
	default:
		return ""
	}
}

// Part extracts the part of an object that a view selects. It does so each time the object is sent,
// because storing the parts of all objects would take too much memory. The Part of a graph.Selection
// is a Part, or the JSON as []byte. Implementations are pointers and safe for concurrent use.
type Part interface {
	AppendJSON(dst []byte, o Object) ([]byte, error)
}

// Object is the payload of a vertex: one version of an object in the cache. Implementations are
// immutable pointers, a different one for each version.
type Object interface {
	UID() string
	// HasContent reports whether there is more than the metadata. For a Secret it returns false.
	HasContent() bool
	// Size is the number of bytes that AppendJSON appends. For a Secret it is the size of the
	// metadata.
	Size() int
	AppendJSON(dst []byte) ([]byte, error)
	// Tree decodes the object, and ReadJSON calls read with its compact JSON, which is valid during
	// the call. For a Secret both have only the metadata.
	Tree() (map[string]any, error)
	ReadJSON(read func(json []byte) error) error
}

// payloadSize returns the approximate size of an object's content in a message, in bytes.
func payloadSize(c *graph.Change) int {
	if text, ok := c.Part.([]byte); ok {
		return len(text)
	}
	if o, ok := c.Payload.(Object); ok && (c.Part != nil || o.HasContent()) {
		return o.Size()
	}
	return 0
}
