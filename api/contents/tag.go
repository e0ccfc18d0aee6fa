package contents

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// Tag identifies a key, a content or attributes. A vertex without content has the zero Tag.
type Tag uint64

// TagOf returns the tag of a text.
func TagOf(text []byte) Tag {
	sum := sha256.Sum256(text)
	return Tag(binary.BigEndian.Uint64(sum[:]))
}

// KeyTag returns the tag of a vertex: that of its group, version, resource, namespace and name, with a
// line feed after all but the last.
func KeyTag(group, version, resource, namespace, name string) Tag {
	var buf [256]byte
	text := buf[:0]
	for _, part := range [...]string{group, version, resource, namespace} {
		text = append(append(text, part...), '\n')
	}
	return TagOf(append(text, name...))
}

// Attributes are the attributes of an arc that its tag depends on.
type Attributes struct {
	Type string
	// Controller, Block, Missing and Optional are the members c, b, e and o.
	Controller, Block, Missing, Optional bool
	// Outside, Fields and Words are the members x, f and w.
	Outside       string
	Fields, Words []string
}

// Tag returns the tag of the lines: the type, the letters of the members that are true in the order cbeo,
// x, the elements of f, an empty line, and the elements of w.
func (a *Attributes) Tag() Tag { return TagOf(a.AppendText(nil)) }

// AppendText appends the text that Tag hashes.
func (a *Attributes) AppendText(dst []byte) []byte {
	dst = append(append(dst, a.Type...), '\n')
	for _, flag := range [...]struct {
		set    bool
		letter byte
	}{{a.Controller, 'c'}, {a.Block, 'b'}, {a.Missing, 'e'}, {a.Optional, 'o'}} {
		if flag.set {
			dst = append(dst, flag.letter)
		}
	}
	dst = append(append(dst, '\n'), a.Outside...)
	for _, field := range a.Fields {
		dst = append(append(dst, '\n'), field...)
	}
	dst = append(dst, '\n')
	for _, word := range a.Words {
		dst = append(append(dst, '\n'), word...)
	}
	return dst
}

// String returns the tag as the member c has it: 11 characters.
func (t Tag) String() string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(t)))
}

// ParseTag is the inverse of String. The tag of "" is zero. ok is false for other texts, whose tag then
// differs from that of all contents that a server of this version sends.
func ParseTag(text string) (t Tag, ok bool) {
	if text == "" {
		return 0, true
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 8 {
		return TagOf([]byte(strings.Clone(text))), false
	}
	return Tag(binary.BigEndian.Uint64(b)), true
}
