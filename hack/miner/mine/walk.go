package mine

import (
	"maps"
	"slices"
	"strings"
)

// place is where in an object a value is.
type place struct {
	path   string
	keys   []string // the last is the key of the value, or of the list that it is in
	inList bool     // the value is an element of a list
	schema *schema
	above  *schema // that of the object which holds the key
	holder map[string]any
}

// miner mines one object.
type miner struct {
	world  *World
	of     *Object
	claims []Claim
}

// Claims tells what the fields of an object refer to.
func (w *World) Claims(o *Object) []Claim {
	m := miner{world: w, of: o}
	root := w.Kinds.all[o.Kind].schemaOf(o.Version)
	for _, key := range slices.Sorted(maps.Keys(o.Content)) {
		switch key {
		case "apiVersion", "kind", "status", "data", "stringData", "binaryData", "immutable":
			continue
		}
		value := o.Content[key]
		if key == "metadata" {
			metadata, _ := value.(map[string]any)
			m.marks("labels", metadata["labels"])
			m.marks("annotations", metadata["annotations"])
			continue
		}
		below, _ := root.member(key)
		m.visit(value, place{path: key, keys: []string{key}, schema: below, holder: o.Content})
	}
	return m.claims
}

func (m *miner) visit(value any, at place) {
	switch value := value.(type) {
	case map[string]any:
		m.visitMap(value, at)
	case []any:
		for _, element := range value {
			m.visit(element, place{path: at.path + "[]", keys: at.keys, inList: true, schema: at.schema.element(), above: at.above, holder: at.holder})
		}
	case string:
		m.text(value, at)
	}
}

func (m *miner) visitMap(value map[string]any, at place) {
	kind, _ := value["kind"].(string)
	name, _ := value["name"].(string)
	_, versioned := value["apiVersion"].(string)
	if kind != "" && versioned && (value["metadata"] != nil || value["spec"] != nil) {
		return // an object in an object: what it refers to, it does once it is made
	}
	key := at.keys[len(at.keys)-1]
	if strings.HasSuffix(key, "elector") {
		m.selector(value, at)
		return
	}
	explicit := kind != "" && name != "" && m.kindBeside(value, kind, name, at)
	for _, key := range slices.Sorted(maps.Keys(value)) {
		if explicit && (key == "name" || key == "kind") {
			continue
		}
		if key == "metadata" {
			if template, ok := value[key].(map[string]any); ok && (template["labels"] != nil || template["annotations"] != nil || template["name"] != nil) {
				continue // a template's
			}
		}
		below, ofMap := at.schema.member(key)
		path := at.path + "." + key
		if strings.ContainsAny(key, "./[]{} '") {
			path = at.path + "['" + key + "']"
		}
		next := place{path: path, keys: append(slices.Clone(at.keys), key), schema: below, above: at.schema, holder: value}
		if ofMap {
			next.path = at.path + "{}"
		}
		m.visit(value[key], next)
	}
}

// kindBeside claims what an object names that has a kind beside the name.
func (m *miner) kindBeside(value map[string]any, kind, name string, at place) bool {
	group, explicit := "", false
	for _, key := range []string{"apiVersion", "apiGroup", "group"} {
		if text, ok := value[key].(string); ok {
			group, explicit = text, true
			if key == "apiVersion" {
				group, _ = splitVersion(text)
			}
		}
	}
	d := m.world.Kinds.named(kind, group, explicit, m.of.Kind.Group)
	if d == nil || !isName(name) || !d.cluster && m.namespace(value) == "" {
		return false
	}
	t := m.target(d, m.namespace(value), name)
	if m.isItself(t) {
		return true
	}
	m.add(Claim{Path: at.path, Targets: []Target{t}, Class: Sure, Reason: "a kind beside the name"})
	return true
}

// namespace is that of what an object in the object names.
func (m *miner) namespace(holder map[string]any) string {
	if text, ok := holder["namespace"].(string); ok && text != "" {
		if !isName(text) {
			return "" // nobody knows which
		}
		return text
	}
	return m.of.Namespace
}

func (m *miner) target(d *definition, namespace, name string) Target {
	if d.cluster {
		namespace = ""
	}
	return Target{Kind: d.kind, Namespace: namespace, Name: name}
}

func (m *miner) isItself(t Target) bool {
	return t == Target{m.of.Kind, m.of.Namespace, m.of.Name}
}

// add adds a claim, unless another element of the same list says the same.
func (m *miner) add(c Claim) {
	c.Object = m.of
	if slices.ContainsFunc(m.claims, func(other Claim) bool { return other.Path == c.Path && slices.Equal(other.Targets, c.Targets) }) {
		return
	}
	for _, t := range c.Targets {
		c.Exists = c.Exists || m.world.Exists(t.Kind, t.Namespace, t.Name)
	}
	m.claims = append(m.claims, c)
}
