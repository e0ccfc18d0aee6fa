package refs

import (
	"errors"
	"fmt"
	"strings"

	"graphview.dev/graphview/graph"
)

// parseRow reads the words of a row: path, target, options.
func parseRow(words []string) (row, error) {
	if len(words) < 2 {
		return row{}, errors.New("expected a path and a target")
	}
	rule := Rule{Path: words[0]}
	if words[1] == "include" {
		if len(words) != 3 {
			return row{}, errors.New("expected one template after include")
		}
		return row{include: words[2], rule: rule}, nil
	}
	var err error
	if rule.To, err = parseTarget(words[1]); err != nil {
		return row{}, fmt.Errorf("target %q: %w", words[1], err)
	}
	scoped := false
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case word == "t":
			rule.Type = graph.Transitive
		case word == "object":
			rule.Method = Object
		case word == "selector":
			rule.Method = Selector
		case word == "labels":
			rule.Method = Labels
		case word == "empty=all":
			rule.EmptySelectsAll = true
		case word == "everywhere":
			rule.AllNamespaces = true
		case word == "cluster":
			rule.Scope, scoped = graph.ScopeCluster, true
		case word == "namespaced":
			rule.Scope, scoped = graph.ScopeNamespaced, true
		case key == "ns" && value != "":
			rule.Namespace = strings.Split(value, ",")
		case key == "unless" && value != "":
			rule.Unless = value
		default:
			return row{}, fmt.Errorf("unknown word %q", word)
		}
	}
	if !scoped && rule.To.fixed() {
		rule.Scope = graph.ScopeNamespaced
	}
	return row{rule: rule}, nil
}

// parseTarget reads group/Kind, where either part may be a field in braces.
func parseTarget(text string) (Target, error) {
	group, kind, ok := strings.Cut(text, "/")
	if !ok || group == "" || kind == "" {
		return Target{}, errors.New("expected group/Kind")
	}
	var target Target
	var err error
	if target.Group, err = parsePart(group); err != nil {
		return Target{}, err
	}
	if target.Kind, err = parsePart(kind); err != nil {
		return Target{}, err
	}
	target.Group.Value = parseGroup(target.Group.Value)
	return target, nil
}

// parsePart reads Value, {field}, {field=default} or {field:a,b=B}.
func parsePart(text string) (Part, error) {
	inner, ok := strings.CutPrefix(text, "{")
	if !ok {
		return Part{Value: text}, nil
	}
	if inner, ok = strings.CutSuffix(inner, "}"); !ok {
		return Part{}, errors.New("expected a closing brace")
	}
	end := strings.IndexAny(inner, "=:")
	if end < 0 {
		return Part{Field: inner}, nil
	}
	part, rest := Part{Field: inner[:end]}, inner[end+1:]
	if inner[end] == '=' {
		part.Value = rest
		return part, nil
	}
	part.Values = map[string]string{}
	for word := range strings.SplitSeq(rest, ",") {
		value, meaning, ok := strings.Cut(word, "=")
		if !ok {
			meaning = value
		}
		if value == "" || meaning == "" {
			return Part{}, fmt.Errorf("expected values after %q", part.Field+":")
		}
		part.Values[value] = meaning
	}
	return part, nil
}

// parseGroup reads a group's name; "" cannot be written as a word.
func parseGroup(text string) string {
	if text == "core" {
		return ""
	}
	return text
}
