package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineOf returns the line of the field at a path such as spec.queries[0].include, or of the innermost existing
// node around it. A message about a text of several
// lines begins with the line in the text.
func lineOf(node *yaml.Node, path, message string) int {
	line := node.Line
	for _, step := range steps(path) {
		for node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		at, value := child(node, step)
		if value == nil {
			break
		}
		line, node = at, value
	}
	if within := lineInText.FindStringSubmatch(message); node.Style == yaml.LiteralStyle && within != nil {
		n, _ := strconv.Atoi(within[1])
		return node.Line + n // node.Line is the line of the |
	}
	return line
}

// lineInText matches a line in messages of YAML and CEL.
var lineInText = regexp.MustCompile(`^(?:yaml: )?line (\d+)[:,]`)

// lineIn returns the line in an error of the YAML parser.
func lineIn(err error) int {
	line := 0
	if found := lineInText.FindStringSubmatch(err.Error()); found != nil {
		line, _ = strconv.Atoi(found[1])
	}
	return line
}

// steps splits a path into names and indices.
func steps(path string) []string {
	var all []string
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		all = append(all, strings.Trim(part, `'"`))
	}
	return all
}

// child returns a member of a mapping or an element of a list, and its first line.
func child(node *yaml.Node, step string) (line int, value *yaml.Node) {
	switch node.Kind {
	case yaml.DocumentNode:
		if len(node.Content) > 0 {
			return child(node.Content[0], step)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i].Line, node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < len(node.Content) {
			return node.Content[n].Line, node.Content[n]
		}
	}
	return 0, nil
}

// unreadable finds keys that the YAML parser accepts but that are errors: duplicates, and keys
// that are not text, as in templates.
func unreadable(node *yaml.Node) (line int, message string) {
	if node.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			switch {
			case key.Kind != yaml.ScalarNode && key.Kind != yaml.AliasNode:
				return key.Line, "a key is to be a text; is this a template?"
			case seen[key.Value] && key.Value != "<<":
				return key.Line, fmt.Sprintf("%q is here twice", key.Value)
			}
			seen[key.Value] = true
		}
	}
	for _, below := range node.Content {
		if line, message := unreadable(below); message != "" {
			return line, message
		}
	}
	return 0, ""
}
