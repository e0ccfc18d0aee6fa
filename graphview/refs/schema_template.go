package refs

import (
	"fmt"
	"sync"

	"graphview.dev/graphview/refs/schema"
)

// templateRule is a rule of a template, with its parsed path.
type templateRule struct {
	rule  Rule
	steps []step
}

// templateRules returns the rules of a template of the built-in table, and panics if there are none.
var templateRules = func() func(name string) []templateRule {
	var mu sync.Mutex
	made := map[string][]templateRule{}
	return func(name string) []templateRule {
		mu.Lock()
		defer mu.Unlock()
		if found, ok := made[name]; ok {
			return found
		}
		rules, err := builtin().table.mount(nil, AnyKind, "", false, builtin().table.templates[name])
		if err != nil || len(rules) == 0 {
			panic(fmt.Sprintf("built-in reference table: template %s: %v", name, err))
		}
		all := make([]templateRule, len(rules))
		for i := range rules {
			steps, _ := parsePath(rules[i].Path) // mount has parsed it
			all[i] = templateRule{rules[i], steps}
		}
		made[name] = all
		return all
	}
}()

// addTemplate adds the rules of a template whose fields the schema has.
func (r *schemaReader) addTemplate(p schemaField, s *schema.Schema, name string) {
	for _, m := range templateRules(name) {
		path := join(p.path, m.rule.Path)
		if len(path) > maxPath || r.read[path] || schemaAt(s, m.steps) == nil || (nodes{p.table.along(m.steps)}).source() == ByTable {
			continue
		}
		r.addRule(m.rule.withPrefix(p.path, r.kind))
	}
	// After all rules are added, because several rules of a template may have the same path.
	for _, m := range templateRules(name) {
		if path := join(p.path, m.rule.Path); schemaAt(s, m.steps) != nil {
			r.read[path] = true
		}
	}
}
