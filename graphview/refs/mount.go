package refs

import (
	"fmt"
	"sync"
)

// templateRule is a rule of a template, and where in it the rule is.
type templateRule struct {
	rule  Rule
	steps []step
}

// templateRules returns the rules of a template of the built-in table, which is part of
// the program.
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

// templatesOf lists the templates of the table for what an object is by its shape, the
// largest first.
func templatesOf(s *Schema) []string {
	var names []string
	if isPodSpec(s) {
		names = append(names, "pod-spec")
	}
	if env, from := s.property("env"), s.property("envFrom"); env != nil && env.Items.has("name", "valueFrom") || from != nil && from.Items.has("secretRef") {
		names = append(names, "container")
	}
	if sources := volumeSources(s); sources >= 3 {
		names = append(names, "volume")
	}
	if spec := s.property("spec"); spec.has("storageClassName", "accessModes") {
		names = append(names, "claim-template")
	}
	if s.has("storageClassName", "accessModes", "resources") {
		names = append(names, "claim-spec")
	}
	if service := s.property("service"); service.has("name", "port") && s.has("resource") {
		names = append(names, "ingress-backend")
	}
	return names
}

func isPodSpec(s *Schema) bool {
	containers := s.property("containers")
	return containers != nil && containers.Items.has("name", "image")
}

func volumeSources(s *Schema) (count int) {
	for _, key := range [...]string{"configMap", "csi", "emptyDir", "ephemeral", "hostPath", "persistentVolumeClaim", "projected", "secret"} {
		if s.has(key) {
			count++
		}
	}
	return count
}

// mount tells what the table says of a template's fields, of those that the schema has.
func (t *teller) mount(p place, s *Schema, name string) {
	for _, m := range templateRules(name) {
		path := join(p.path, m.rule.Path)
		if len(path) > maxPath || t.told[path] || s.at(m.steps) == nil || p.table.along(m.steps).tells() {
			continue
		}
		rule := m.rule.below(p.path, t.kind)
		rule.Optional = true
		t.add(rule)
	}
	for _, m := range templateRules(name) {
		if path := join(p.path, m.rule.Path); s.at(m.steps) != nil {
			t.told[path] = true
		}
	}
}
