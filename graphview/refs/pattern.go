package refs

import (
	"errors"
	"fmt"
	"strings"
)

// maxPatterned bounds the texts that are matched against patterns. A host, a namespace
// and a name together are shorter.
const maxPatterned = 1024

// pattern is the form of a text that contains a name.
type pattern []piece

// piece is a literal or, if literal is empty, a capture.
type piece struct {
	literal string
	capture capture
}

type capture uint8

const (
	anything  capture = iota // {*}
	name                     // {name}: letters of a DNS name, dots included
	label                    // {label}: a name without dots
	namespace                // {ns}
)

var captures = map[string]capture{"*": anything, "name": name, "label": label, "ns": namespace}

// captured is the result of a match.
type captured struct {
	namespace, name string
}

// parsePatterns reads patterns with | between them.
func parsePatterns(text string) ([]pattern, error) {
	var all []pattern
	for one := range strings.SplitSeq(text, "|") {
		p, err := parsePattern(one)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", one, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parsePattern(text string) (pattern, error) {
	var p pattern
	names := 0
	for text != "" {
		literal, rest, ok := strings.Cut(text, "{")
		if literal != "" {
			p = append(p, piece{literal: literal})
		}
		if !ok {
			break
		}
		word, after, ok := strings.Cut(rest, "}")
		c, known := captures[word]
		if !ok || !known {
			return nil, errors.New("expected {name}, {label}, {ns} or {*}")
		}
		if c == name || c == label {
			names++
		}
		p, text = append(p, piece{capture: c}), after
	}
	if names != 1 {
		return nil, errors.New("expected one name")
	}
	return p, nil
}

// match returns the captures of the first pattern that matches the whole text, each as short as possible.
func match(patterns []pattern, text string) (first captured, ok bool) {
	matchEach(patterns, text, func(c captured) bool {
		first, ok = c, true
		return false
	})
	return first, ok
}

// matchEach yields the captures of every way in which each pattern matches the whole text, until yield returns false.
func matchEach(patterns []pattern, text string, yield func(captured) bool) {
	if len(text) > maxPatterned {
		return
	}
	m := matching{text: text, left: maxPlaces}
	for _, p := range patterns {
		if !p.each(&m, 0, captured{}, yield) {
			return
		}
	}
}

// maxPlaces bounds the places of one text that are tried as the end of a capture. Texts
// in the form of the table's lists need fewer than 100.
const maxPlaces = 1024

// matching is the state of matchEach for one text.
type matching struct {
	text string
	left int // places to try
	// runs caches, for each kind of capture, the last run of bytes that it may take, so
	// that overlapping captures scan them once.
	runs [namespace + 1]struct{ from, to int }
}

// limit returns the last place at which a capture that begins at from may end.
func (m *matching) limit(c capture, from int) int {
	run := &m.runs[c]
	if from < run.from || from >= run.to {
		run.from, run.to = from, from
		for run.to < len(m.text) && c.takes(m.text[run.to]) {
			run.to++
		}
	}
	return min(run.to, from+longest[c])
}

// longest is the maximum length of each kind of capture.
var longest = [...]int{anything: maxPatterned, name: maxPrefix, label: maxPrefix, namespace: maxLabel}

// next returns the first place at which a capture may end and the rest of the pattern
// begin. It skips places where the next literal of the rest does not match. It returns
// false if there is no such place, or after maxPlaces.
func (m *matching) next(rest pattern, from, limit int) (int, bool) {
	end := from
	switch {
	case len(rest) == 0:
		end = len(m.text)
	case rest[0].literal != "":
		i := strings.Index(m.text[min(from, len(m.text)):], rest[0].literal)
		if i < 0 {
			return 0, false
		}
		end += i
	}
	if from > limit || end > limit || m.left == 0 {
		return 0, false
	}
	m.left--
	return end, true
}

// each yields c with the captures of each match at a place in the text. It returns false if yield did.
func (p pattern) each(m *matching, at int, c captured, yield func(captured) bool) bool {
	if len(p) == 0 {
		return at < len(m.text) || yield(c)
	}
	first, rest := p[0], p[1:]
	if first.literal != "" {
		return !strings.HasPrefix(m.text[at:], first.literal) || rest.each(m, at+len(first.literal), c, yield)
	}
	from, limit := at+1, m.limit(first.capture, at)
	if first.capture == anything {
		from = at
	}
	for end, ok := m.next(rest, from, limit); ok; end, ok = m.next(rest, end+1, limit) {
		switch first.capture {
		case name, label:
			c.name = m.text[at:end]
		case namespace:
			c.namespace = m.text[at:end]
		case anything:
		}
		if !rest.each(m, end, c, yield) {
			return false
		}
	}
	return true
}

// takes reports whether a capture may contain a byte.
func (c capture) takes(b byte) bool {
	switch {
	case c == anything, b >= 'a' && b <= 'z', b >= '0' && b <= '9', b == '-':
		return true
	default:
		return c == name && b == '.'
	}
}
