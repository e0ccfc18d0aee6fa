package refs

import (
	"errors"
	"fmt"
	"strings"

	"graphview.dev/graphview/graph"
)

// table holds the parsed table files. Templates are not mounted yet, because they may be
// in files that are read later.
type table struct {
	templates map[string][]row
	headings  []heading
}

type heading struct {
	kinds []graph.Kind
	rows  []row
}

// row is a rule without a source, or a template to include at its path.
type row struct {
	place   string // file:line
	include string
	// transitive: all included references are transitive.
	transitive bool
	rule       Rule
}

// read adds the contents of a file.
func (t *table) read(file, text string) error {
	if t.templates == nil {
		t.templates = map[string][]row{}
	}
	var add func(row)
	for i, line := range strings.Split(text, "\n") {
		place := fmt.Sprintf("%s:%d", file, i+1)
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		var err error
		switch {
		case len(words) == 0:
		case line[0] != ' ' && line[0] != '\t':
			add, err = t.open(words[0], words[1:])
		case add == nil:
			err = errors.New("row before the first heading")
		default:
			var r row
			if r, err = parseRow(words); err == nil {
				r.place = place
				add(r)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

// open starts a section, and returns a function that adds a row to it.
func (t *table) open(keyword string, words []string) (func(row), error) {
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("heading %q names nothing", keyword)
	case keyword == "template" && len(words) == 1:
		name := words[0]
		if _, ok := t.templates[name]; ok {
			return nil, fmt.Errorf("template %q is there already", name)
		}
		t.templates[name] = nil
		return func(r row) { t.templates[name] = append(t.templates[name], r) }, nil
	case keyword == "kind":
		var kinds []graph.Kind
		for word := range strings.SplitSeq(strings.Join(words, ""), ",") {
			group, kind, ok := strings.Cut(word, "/")
			if !ok || group == "" || kind == "" {
				return nil, fmt.Errorf("kind %q: expected group/Kind", word)
			}
			kinds = append(kinds, graph.Kind{Group: parseGroup(group), Kind: kind})
		}
		t.headings = append(t.headings, heading{kinds: kinds})
		rows := &t.headings[len(t.headings)-1].rows
		return func(r row) { *rows = append(*rows, r) }, nil
	}
	return nil, fmt.Errorf("expected \"kind\" or \"template\" and a name, not %q", keyword)
}

// rules returns the rules of the wanted kinds, with templates mounted.
func (t *table) rules(wanted func(graph.Kind) bool) ([]Rule, error) {
	var rules []Rule
	for _, h := range t.headings {
		for _, kind := range h.kinds {
			if !wanted(kind) {
				continue
			}
			var err error
			if rules, err = t.mount(rules, kind, "", false, h.rows); err != nil {
				return nil, err
			}
		}
	}
	return rules, nil
}

// mount appends the rules of rows below prefix. The bound on the depth of a path ends
// templates that include each other in a cycle.
func (t *table) mount(rules []Rule, kind graph.Kind, prefix string, transitive bool, rows []row) ([]Rule, error) {
	for _, r := range rows {
		path := join(prefix, r.rule.Path)
		if _, err := parsePath(path); err != nil {
			return nil, fmt.Errorf("%s: %w", r.place, err)
		}
		if r.include == "" {
			rule := r.rule.withPrefix(prefix, kind)
			if transitive {
				rule.Type = graph.Transitive
			}
			rules = append(rules, rule)
			continue
		}
		included, ok := t.templates[r.include]
		if !ok {
			return nil, fmt.Errorf("%s: no template %q", r.place, r.include)
		}
		var err error
		if rules, err = t.mount(rules, kind, path, transitive || r.transitive, included); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// withPrefix returns the rule mounted at a prefix in a kind. Fields that start at the root of
// the template get the prefix too.
func (r *Rule) withPrefix(prefix string, kind graph.Kind) Rule {
	moved := *r
	move := func(field string) string {
		if rest, ok := strings.CutPrefix(field, "."); ok {
			return "." + join(prefix, rest)
		}
		return field
	}
	moved.From = kind
	moved.Path = join(prefix, r.Path)
	moved.To.Group.Field = move(r.To.Group.Field)
	moved.To.Kind.Field = move(r.To.Kind.Field)
	moved.Remote = moveRemote(r.Remote, move)
	moved.Selected = move(r.Selected)
	moved.Listed = move(r.Listed)
	moveAll := func(texts []string) []string {
		var all []string
		for _, text := range texts {
			all = append(all, moveCondition(text, move))
		}
		return all
	}
	moved.Namespace = moveAll(r.Namespace)
	moved.If = moveAll(r.If)
	moved.Unless = moveAll(r.Unless)
	moved.OptionalIf = moveAll(r.OptionalIf)
	return moved
}
