package offline

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a file. Line and Column count from 1; 0 means unknown.
type Position struct {
	File         string
	Line, Column int
}

// String is FILE:LINE:COLUMN, as compilers write it.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// Position returns the place of a field that has a value, or of the innermost part of the path to it.
// The path has [] for the elements of a list and {} for the values of a map, as references have.
func (o *Object) Position(field, value string) Position {
	d := o.source
	if d == nil {
		return Position{}
	}
	p := Position{File: d.file, Line: d.line}
	var root yaml.Node
	if yaml.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return p
	}
	steps := strings.FieldsFunc(o.at, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	found := search{value: value}
	found.walk(root.Content[0], append(steps, pathSteps(field)...), 0)
	if found.node != nil {
		p.Line, p.Column = d.line+found.node.Line-1, found.node.Column
	}
	return p
}

// pathSteps splits the path of a reference. The words before it, as in inferred/PATH, are no part of it.
func pathSteps(field string) []string {
	field = field[strings.LastIndexByte(before(field, "['"), '/')+1:]
	var steps []string
	for field != "" {
		switch {
		case strings.HasPrefix(field, "['"):
			key, rest, _ := strings.Cut(field[2:], "']")
			steps, field = append(steps, key), rest
		case strings.HasPrefix(field, "[]"), strings.HasPrefix(field, "{}"):
			steps, field = append(steps, field[:2]), field[2:]
		case field[0] == '.':
			field = field[1:]
		default:
			end := strings.IndexAny(field, ".[{")
			if end < 0 {
				end = len(field)
			}
			steps, field = append(steps, field[:max(end, 1)]), field[max(end, 1):]
		}
	}
	return steps
}

func before(text, mark string) string {
	head, _, _ := strings.Cut(text, mark)
	return head
}

// search finds the node at a path whose text has a value; otherwise the deepest, first node.
type search struct {
	value string
	node  *yaml.Node
	depth int
	exact bool
}

func (s *search) walk(node *yaml.Node, steps []string, depth int) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if s.exact || depth > 64 {
		return
	}
	if len(steps) == 0 {
		if at := holder(node, s.value); at != nil && s.value != "" {
			node, s.exact = at, true
		}
		if s.exact || s.node == nil || depth > s.depth {
			s.node, s.depth = node, depth
		}
		return
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			if steps[0] != "{}" && key.Value != steps[0] {
				continue
			}
			if s.node == nil || depth > s.depth {
				s.node, s.depth = key, depth
			}
			s.walk(value, steps[1:], depth+1)
		}
	case yaml.SequenceNode:
		if n, err := strconv.Atoi(steps[0]); err == nil && n < len(node.Content) {
			s.walk(node.Content[n], steps[1:], depth+1)
		} else if steps[0] == "[]" {
			for _, element := range node.Content {
				s.walk(element, steps[1:], depth+1)
			}
		}
	}
}

// holder returns the scalar that has the value: the node, or the name of the object in it; nil if there is none.
func holder(node *yaml.Node, value string) *yaml.Node {
	switch node.Kind {
	case yaml.ScalarNode:
		if strings.Contains(node.Value, value) {
			return node
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == "name" && node.Content[i+1].Value == value {
				return node.Content[i+1]
			}
		}
	}
	return nil
}
