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
		transitive := len(words) == 4 && words[3] == "t"
		if len(words) != 3 && !transitive {
			return row{}, errors.New("expected one template after include")
		}
		return row{include: words[2], transitive: transitive, rule: rule}, nil
	}
	var err error
	if rule.To, err = parseTarget(words[1]); err != nil {
		return row{}, fmt.Errorf("target %q: %w", words[1], err)
	}
	if rule.To.fixed() {
		rule.Scope = graph.ScopeNamespaced
	}
	for _, word := range words[2:] {
		if !rule.readWord(word) {
			return row{}, fmt.Errorf("unknown word %q", word)
		}
	}
	if rule.Method.lists() {
		rule.To, rule.Scope = Target{}, graph.ScopeUnknown
	}
	return row{rule: rule}, nil
}

// flags are the words of a row without a value, and options those with one.
var (
	flags = map[string]func(*Rule){
		"t":           func(r *Rule) { r.Type = graph.Transitive },
		"object":      func(r *Rule) { r.Method = Object },
		"selector":    func(r *Rule) { r.Method = Selector },
		"labels":      func(r *Rule) { r.Method = Labels },
		"inventory":   func(r *Rule) { r.Method = Inventory },
		"application": func(r *Rule) { r.Method = Application },
		"address":     func(r *Rule) { r.Method = Address },
		"names":       func(r *Rule) { r.Method = Names },
		"empty=all":   func(r *Rule) { r.EmptySelectsAll = true },
		"inferred":    func(r *Rule) { r.Inferred = true },
		"optional":    func(r *Rule) { r.Optional = true },
		"required":    func(r *Rule) { r.Required = true },
		"project":     func(r *Rule) { r.OfProject = true },
		"everywhere":  func(r *Rule) { r.AllNamespaces = true },
		"cluster":     func(r *Rule) { r.Scope = graph.ScopeCluster },
		"namespaced":  func(r *Rule) { r.Scope = graph.ScopeNamespaced },
	}
	options = map[string]func(r *Rule, value string){
		"ns":          func(r *Rule, value string) { r.Namespace = strings.Split(value, ",") },
		"if":          func(r *Rule, value string) { r.If = append(r.If, value) },
		"unless":      func(r *Rule, value string) { r.Unless = append(r.Unless, value) },
		"optional":    func(r *Rule, value string) { r.OptionalIf = append(r.OptionalIf, value) },
		"except":      func(r *Rule, value string) { r.Except = strings.Split(value, ",") },
		"as":          func(r *Rule, value string) { r.As = value },
		"named":       func(r *Rule, value string) { r.Named = value },
		"hosts":       func(r *Rule, value string) { r.Hosts = value },
		"remote":      func(r *Rule, value string) { r.Remote = value },
		"mark":        func(r *Rule, value string) { r.Mark = value + "/" },
		"selected-ns": func(r *Rule, value string) { r.Selected = value },
		"listed-ns":   func(r *Rule, value string) { r.Listed = value },
	}
)

// readWord reads one word after the target.
func (r *Rule) readWord(word string) bool {
	if set, ok := flags[word]; ok {
		set(r)
		return true
	}
	key, value, _ := strings.Cut(word, "=")
	set, ok := options[key]
	if ok = ok && value != ""; ok {
		set(r, value)
	}
	return ok
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
