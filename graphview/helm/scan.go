package helm

import (
	"bytes"
	"strings"
)

// document identifies one object of a manifest.
type document struct{ apiVersion, kind, namespace, name string }

// scan reads a document of the usual layout: a block mapping with apiVersion, kind and metadata on
// separate lines, and plain words as values. It reads lines, because a parser would copy the secrets of
// the document into garbage of ten times its size. plain is false for other layouts.
func scan(text []byte) (d document, plain bool) {
	s := scanner{indent: -1}
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if !s.line(line) {
			return document{}, false
		}
	}
	if strings.HasSuffix(s.found.kind, "List") {
		return document{}, false // the release manages the items of the list
	}
	return s.found, true
}

type scanner struct {
	found document
	seen  [5]bool // keys that may occur once
	// inside is the top-level member of the current line, "" before the first. indent is the
	// indentation of the members of metadata, -1 before the first.
	inside string
	indent int
	// complete means that the value of the current member of metadata is complete.
	complete bool
}

// line reads a line, and reports whether it fits the usual layout.
func (s *scanner) line(line []byte) bool {
	rest := bytes.TrimLeft(line, " ")
	switch {
	case len(rest) == 0 || rest[0] == '#':
		return true
	case rest[0] == '\t':
		return s.inside != "metadata" && len(rest) < len(line)
	case len(rest) == len(line):
		return s.top(line)
	case s.inside == "metadata":
		return s.member(len(line)-len(rest), rest)
	default:
		// The value of another key. The word of apiVersion or kind must not continue here.
		return s.inside != "" && s.inside != "apiVersion" && s.inside != "kind"
	}
}

// top reads a line that is not indented.
func (s *scanner) top(line []byte) bool {
	if line[0] == '-' && (len(line) == 1 || line[1] == ' ') {
		return s.inside != "" && !s.identifies()
	}
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	s.inside = "another"
	switch string(key) {
	case "apiVersion":
		s.inside = "apiVersion"
		return s.set(0, &s.found.apiVersion, value)
	case "kind":
		s.inside = "kind"
		return s.set(1, &s.found.kind, value)
	case "metadata":
		s.inside = "metadata"
		if s.seen[2] {
			return false
		}
		s.seen[2] = true
		return len(value) == 0 || value[0] == '#'
	}
	return true
}

// identifies reports whether the current line is in a member that identifies the object.
func (s *scanner) identifies() bool {
	return s.inside == "apiVersion" || s.inside == "kind" || s.inside == "metadata"
}

// member reads a line within the metadata.
func (s *scanner) member(indent int, line []byte) bool {
	if s.indent < 0 {
		s.indent = indent
	}
	switch {
	case indent > s.indent:
		return !s.complete // a complete value must not continue
	case indent < s.indent:
		return false
	case line[0] == '-':
		return len(line) == 1 || line[1] == ' '
	}
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	s.complete = false
	switch string(key) {
	case "name":
		s.complete = true
		return s.set(3, &s.found.name, value)
	case "namespace":
		s.complete = true
		return s.set(4, &s.found.namespace, value)
	}
	return true
}

// set stores the value of a key, and reports whether it is a word and the first value of the key.
func (s *scanner) set(which int, into *string, value []byte) bool {
	word, ok := word(value)
	if !ok || s.seen[which] {
		return false
	}
	s.seen[which] = true
	*into = word
	return true
}

// cutKey cuts a line into its key and its value.
func cutKey(line []byte) (key, value []byte, ok bool) {
	at := bytes.IndexByte(line, ':')
	if at <= 0 || at > maxName || at+1 < len(line) && line[at+1] != ' ' {
		return nil, nil, false
	}
	for _, c := range line[:at] {
		if !isNameByte(c) && c != '/' {
			return nil, nil, false
		}
	}
	return line[:at], bytes.TrimSpace(line[at+1:]), true
}

// word reads a plain or quoted word. Numbers, booleans, null and multi-line values are not words.
func word(value []byte) (string, bool) {
	if len(value) == 0 {
		return "", false
	}
	if quote := value[0]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(value[1:], quote)
		if end < 0 {
			return "", false
		}
		inner, after := value[1:end+1], bytes.TrimSpace(value[end+2:])
		if len(after) > 0 && (after[0] != '#' || value[end+2] != ' ') {
			return "", false
		}
		return text(inner)
	}
	if at := bytes.Index(value, []byte(" #")); at >= 0 {
		value = bytes.TrimSpace(value[:at])
	}
	if c := value[0]; c >= '0' && c <= '9' || c == '-' || c == '.' {
		return "", false
	}
	switch strings.ToLower(string(value[:min(len(value), 6)])) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return "", false
	}
	return text(value)
}

// text returns a word if it has only bytes of names, groups and versions.
func text(value []byte) (string, bool) {
	if len(value) == 0 || len(value) > 2*maxName || value[len(value)-1] == ':' {
		return "", false
	}
	for _, c := range value {
		if !isNameByte(c) && c != '/' {
			return "", false
		}
	}
	return string(value), true
}
