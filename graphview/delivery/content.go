package delivery

import (
	"errors"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// Content is what is sent of each object.
type Content uint8

const (
	// WholeObject is the object, or what the view selects of it.
	WholeObject Content = iota
	// SummaryOnly is a summary; see Summary.
	SummaryOnly
	// KeysOnly is nothing beside the name.
	KeysOnly
)

var contents = map[string]Content{"": WholeObject, "object": WholeObject, "summary": SummaryOnly, "none": KeysOnly}

var errContent = errors.New("content must be object, summary or none")

// ParseContent reads the query parameter; "" is the whole object.
func ParseContent(text string) (Content, error) {
	c, ok := contents[text]
	if !ok {
		return 0, errContent
	}
	return c, nil
}

// mark tells what is sent under one digest of rights from what is under another
// content. It is empty for whole objects.
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

// Part is what a view selects of an object, where that is too much to be kept for
// each: it is found again whenever it is sent. It is the Part of a graph.Selection
// beside []byte, which is what was found, in JSON. Implementations are pointers, and
// safe for use by any number of goroutines.
type Part interface {
	AppendJSON(dst []byte, o Object) ([]byte, error)
}

// Object is the payload of a vertex: one version of an object, as it is retained.
// Implementations are pointers, immutable, and equal only if they are the same.
type Object interface {
	UID() string
	// HasContent is false for a Secret.
	HasContent() bool
	// Size is the number of bytes that AppendJSON appends, and for a Secret that of its
	// metadata.
	Size() int
	AppendJSON(dst []byte) ([]byte, error)
	// Tree is the object as it is decoded, Part what a shape asks for of it. Of a Secret
	// they have the metadata alone.
	Tree() (map[string]any, error)
	Part(shape *jsontree.Shape) (map[string]any, error)
}

// payloadSize is about the size of what is sent of an object.
func payloadSize(c *graph.Change) int {
	if text, ok := c.Part.([]byte); ok {
		return len(text)
	}
	if o, ok := c.Payload.(Object); ok && (c.Part != nil || o.HasContent()) {
		return o.Size()
	}
	return 0
}
