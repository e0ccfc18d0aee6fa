package refs

import (
	"strconv"
	"strings"

	"graphview.dev/graphview/graph"
)

// part is a compiled Part.
type part struct {
	value  string
	field  *companion // nil if the part is fixed
	values map[string]string
	cut    bool // the field holds group/version
}

func compilePart(p *Part, path []step, base int) (part, error) {
	if p.Field == "" {
		return part{value: p.Value}, nil
	}
	c, err := parseCompanion(p.Field, path, base)
	if err != nil {
		return part{}, err
	}
	last := ""
	if len(c.keys) > 0 {
		last = c.keys[len(c.keys)-1]
	}
	return part{value: p.Value, field: &c, values: p.Values, cut: last == "apiVersion"}, nil
}

// read returns the part for one reference, or false if the object does not determine it.
func (p *part) read(reached []any) (string, bool) {
	if p.field == nil {
		return p.value, true
	}
	var text string
	switch value := p.field.find(reached).(type) {
	case nil:
		// An explicit "" is not absence: it is the core group.
		return p.value, true
	case string:
		text = value
	case bool:
		// A boolean counts only if Values maps it.
		if text = strconv.FormatBool(value); p.values[text] == "" {
			return "", false
		}
	default:
		return "", false
	}
	if p.cut {
		return groupOf(text)
	}
	if len(p.values) == 0 {
		return text, true
	}
	text, ok := p.values[text]
	return text, ok
}

// target returns the kind that a leaf refers to.
func (l *leaf) target(reached []any) (graph.Kind, bool) {
	kind, ok := l.kind.read(reached)
	if !ok {
		return graph.Kind{}, false
	}
	if kind == "" {
		// Unlike a group, a kind cannot be empty: an empty one counts as absent.
		kind = l.kind.value
	}
	group, ok := l.group.read(reached)
	return graph.Kind{Group: group, Kind: kind}, ok && kind != ""
}

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) (string, bool) {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return "", true
	}
	return group, group != "" && version != "" && !strings.Contains(version, "/")
}
