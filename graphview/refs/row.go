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
		if len(words) == 4 && words[3] == "t" {
			return row{include: words[2], transitive: true, rule: rule}, nil
		}
		if len(words) != 3 {
			return row{}, errors.New("expected one template after include")
		}
		return row{include: words[2], rule: rule}, nil
	}
	var err error
	if rule.To, err = parseTarget(words[1]); err != nil {
		return row{}, fmt.Errorf("target %q: %w", words[1], err)
	}
	if rule.To.fixed() {
		rule.Scope = graph.ScopeNamespaced
	}
	for _, word := range words[2:] {
		if !rule.readFlag(word) && !rule.readOption(word) {
			return row{}, fmt.Errorf("unknown word %q", word)
		}
	}
	if rule.Method.lists() {
		rule.To, rule.Scope = Target{}, graph.ScopeUnknown
	}
	return row{rule: rule}, nil
}

// readFlag reads a word without a value.
func (r *Rule) readFlag(word string) bool {
	switch word {
	case "t":
		r.Type = graph.Transitive
	case "object":
		r.Method = Object
	case "selector":
		r.Method = Selector
	case "labels":
		r.Method = Labels
	case "inventory":
		r.Method = Inventory
	case "application":
		r.Method = Application
	case "address":
		r.Method = Address
	case "names":
		r.Method = Names
	case "empty=all":
		r.EmptySelectsAll = true
	case "inferred":
		r.Inferred = true
	case "optional":
		r.Optional = true
	case "everywhere":
		r.AllNamespaces = true
	case "cluster":
		r.Scope = graph.ScopeCluster
	case "namespaced":
		r.Scope = graph.ScopeNamespaced
	default:
		return false
	}
	return true
}

// readOption reads key=value.
func (r *Rule) readOption(word string) bool {
	key, value, _ := strings.Cut(word, "=")
	if value == "" {
		return false
	}
	switch key {
	case "ns":
		r.Namespace = strings.Split(value, ",")
	case "if":
		r.If = append(r.If, value)
	case "unless":
		r.Unless = append(r.Unless, value)
	case "optional":
		r.OptionalIf = append(r.OptionalIf, value)
	case "except":
		r.Except = strings.Split(value, ",")
	case "as":
		r.As = value
	case "named":
		r.Named = value
	case "remote":
		r.Remote = value
	case "mark":
		r.Mark = value + "/"
	case "selected-ns":
		r.Selected = value
	case "listed-ns":
		r.Listed = value
	default:
		return false
	}
	return true
}

// parseTarget reads group/Kind, where either part may be a field in braces.
func parseTarget(text string) (Target, error) {
	group, kind, ok := cutTarget(text)
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

// cutTarget cuts at the slash outside braces.
func cutTarget(text string) (group, kind string, ok bool) {
	if !strings.HasPrefix(text, "{") {
		return strings.Cut(text, "/")
	}
	if group, kind, ok = strings.Cut(text, "}/"); ok {
		group += "}"
	}
	return group, kind, ok
}

// parsePart reads Value, {field}, {field=default}, {field:a,b=B} or
// {field=default:a,b=B}.
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
		var more bool
		if part.Value, rest, more = strings.Cut(rest, ":"); !more {
			return part, nil
		}
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

// parseGroup reads the name of a group; the core group is written core.
func parseGroup(text string) string {
	if text == "core" {
		return ""
	}
	return text
}
