package refs

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
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

// maxNames bounds the bytes of a list of names in JSON.
const maxNames = 16 << 10

// namesIn yields the names in a text: a list in JSON of names or of objects with a name and a namespace, which
// are yielded as namespace/name, or names with commas between them.
func namesIn(text string) iter.Seq[string] {
	if !strings.HasPrefix(text, "[") {
		return strings.SplitSeq(text, ",")
	}
	return func(yield func(string) bool) {
		var list []any
		if len(text) > maxNames || json.Unmarshal([]byte(text), &list) != nil {
			return
		}
		for _, element := range list {
			name, _ := element.(string)
			if object, ok := element.(map[string]any); ok {
				name, _ = object["name"].(string)
				if namespace, _ := object["namespace"].(string); namespace != "" {
					name = namespace + "/" + name
				}
			}
			if name != "" && !yield(name) {
				return
			}
		}
	}
}
