package refs

import (
	"errors"
	"fmt"
	"strings"
)

// maxPatterned bounds the texts that are matched against patterns: a host, a
// namespace and a name together are shorter.
const maxPatterned = 1024

// pattern is the form of a text that holds a name among other things.
type pattern []piece

// piece is a literal or, if it is empty, a capture.
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

// captured is what a text that matched names.
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

// match returns what the whole text says by the first pattern that fits.
func match(patterns []pattern, text string) (captured, bool) {
	if len(text) > maxPatterned {
		return captured{}, false
	}
	for _, p := range patterns {
		if c, ok := p.match(text); ok {
			return c, true
		}
	}
	return captured{}, false
}

// match lets every capture take as little as it can.
func (p pattern) match(text string) (captured, bool) {
	if len(p) == 0 {
		return captured{}, text == ""
	}
	first, rest := p[0], p[1:]
	if first.literal != "" {
		after, ok := strings.CutPrefix(text, first.literal)
		if !ok {
			return captured{}, false
		}
		return rest.match(after)
	}
	for end := 0; ; end++ {
		if end > 0 || first.capture == anything {
			if c, ok := rest.match(text[end:]); ok {
				switch first.capture {
				case name, label:
					c.name = text[:end]
				case namespace:
					c.namespace = text[:end]
				case anything:
				}
				return c, true
			}
		}
		if end == len(text) || !first.capture.takes(text[end]) {
			return captured{}, false
		}
	}
}

// matchEach yields all that a text may name, by each pattern that fits and in every way in
// which it does. A namespace is no longer than one can be, which bounds the ways.
func matchEach(patterns []pattern, text string, yield func(captured)) {
	if len(text) > maxPatterned {
		return
	}
	for _, p := range patterns {
		p.each(text, captured{}, yield)
	}
}

func (p pattern) each(text string, c captured, yield func(captured)) {
	if len(p) == 0 {
		if text == "" {
			yield(c)
		}
		return
	}
	first, rest := p[0], p[1:]
	if first.literal != "" {
		if after, ok := strings.CutPrefix(text, first.literal); ok {
			rest.each(after, c, yield)
		}
		return
	}
	for end := 0; first.capture != namespace || end <= maxLabel; end++ {
		if end > 0 || first.capture == anything {
			next := c
			switch first.capture {
			case name, label:
				next.name = text[:end]
			case namespace:
				next.namespace = text[:end]
			case anything:
			}
			rest.each(text[end:], next, yield)
		}
		if end == len(text) || !first.capture.takes(text[end]) {
			return
		}
	}
}

// takes tells whether a capture goes on over a byte. Names of other objects
// than Roles have no others.
func (c capture) takes(b byte) bool {
	switch {
	case c == anything, b >= 'a' && b <= 'z', b >= '0' && b <= '9', b == '-':
		return true
	default:
		return c == name && b == '.'
	}
}
