package refs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graphview.dev/graphview/graph"
)

// naming derives the name of the target from a text that is more than the name.
type naming struct {
	except   []string
	patterns []pattern
	template []segment
}

// segment is a part of a template: a literal, the value itself, or a field.
type segment struct {
	literal string
	field   *companion
}

// compileNaming returns nil if the text is the name.
func compileNaming(rule *Rule, path []step, base int) (*naming, error) {
	if len(rule.Except) == 0 && rule.As == "" && rule.Named == "" {
		return nil, nil
	}
	n := &naming{except: rule.Except}
	var err error
	if rule.As != "" {
		if n.patterns, err = parsePatterns(rule.As); err != nil {
			return nil, err
		}
	}
	for text := rule.Named; text != ""; {
		literal, rest, ok := strings.Cut(text, "{")
		if literal != "" {
			n.template = append(n.template, segment{literal: literal})
		}
		if !ok {
			break
		}
		word, after, ok := strings.Cut(rest, "}")
		if !ok {
			return nil, errors.New("template: expected a closing brace")
		}
		var s segment
		if word != "" {
			c, err := parseCompanion(word, path, base)
			if err != nil {
				return nil, fmt.Errorf("template: %w", err)
			}
			s.field = &c
		}
		n.template, text = append(n.template, s), after
	}
	return n, nil
}

// name sets the name, and perhaps the namespace, of ref from a text.
func (n *naming) name(ref *graph.Reference, text string, reached []any) bool {
	if slices.Contains(n.except, text) {
		return false
	}
	if n.patterns != nil {
		c, ok := match(n.patterns, text)
		if !ok {
			return false
		}
		text, ref.Namespace = c.name, c.namespace
	}
	if n.template != nil {
		var ok bool
		if text, ok = n.fill(text, reached); !ok {
			return false
		}
	}
	ref.Name = text
	return true
}

// fill returns the filled template, or false if a field is not set.
func (n *naming) fill(text string, reached []any) (string, bool) {
	var b strings.Builder
	for i := range n.template {
		s := &n.template[i]
		switch {
		case s.literal != "":
			b.WriteString(s.literal)
		case s.field == nil:
			b.WriteString(text)
		default:
			word := plain(s.field.find(reached))
			if word == "" {
				return "", false
			}
			b.WriteString(word)
		}
	}
	return b.String(), true
}

// plain returns a text, or an integer as text; "" for anything else.
func plain(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		if whole := int64(value); float64(whole) == value {
			return strconv.FormatInt(whole, 10)
		}
	}
	return ""
}
