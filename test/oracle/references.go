package oracle

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// collector collects the references of one object.
type collector struct {
	tree      map[string]any
	namespace string // of the object
	found     []reference
}

// references returns all references of an object.
func references(o *object, served []resource) []reference {
	c := &collector{tree: o.tree, namespace: o.key.Namespace}
	c.owners(served)
	all, own := rows(), kindName(o.kind)
	for _, r := range all[own] {
		c.row(r)
	}
	if special, ok := specials[own]; ok {
		special(c)
	}
	c.infer(o, served)
	return append(c.found, o.releases...)
}

//go:embed references.txt
var table string

// row is a line of the table.
type row struct {
	arc, field, to string
	path           []string
}

// rows has the rows of the table by kind, with those of its templates.
var rows = sync.OnceValue(func() map[string][]row {
	lines := map[string][]row{}
	for line := range strings.Lines(table) {
		if columns := strings.Fields(line); len(columns) == 4 && columns[0] != "#" {
			lines[columns[0]] = append(lines[columns[0]], row{arc: columns[1], field: columns[2], to: columns[3]})
		}
	}
	var expand func(kind, arc, path string) []row
	expand = func(kind, arc, path string) (all []row) {
		for _, r := range lines[kind] {
			if arc != "-" {
				r.arc = arc
			}
			r.field = path + r.field
			if strings.HasPrefix(r.to, ">") {
				all = append(all, expand(r.to, r.arc, r.field+".")...)
				continue
			}
			r.path = token.FindAllString(r.field, -1)
			all = append(all, r)
		}
		return all
	}
	expanded := map[string][]row{}
	for kind := range lines {
		expanded[kind] = expand(kind, "-", "")
	}
	return expanded
})

// row adds the references that a row of the table finds.
func (c *collector) row(r row) {
	to, isObject := strings.CutSuffix(r.to, "{}")
	path := r.path
	if to == "group" && !isObject {
		path = path[:len(path)-1]
	}
	for _, p := range follow(place{value: c.tree}, path) {
		name, _ := p.value.(string)
		kind := parseKind(to)
		switch to {
		case "version":
			kind = byAPIVersion(p.value)
		case "group":
			kind = byAPIGroup(p.value)
		case "driver":
			if kind = drivers; strings.Contains(name, "/") {
				continue
			}
		}
		if isObject || to == "group" {
			c.object(r.arc, r.field, kind, p.value)
		} else {
			c.uses(r.arc, r.field, kind, name)
		}
	}
}

// kindName is the name of a kind in the table, and parseKind the inverse.
func kindName(kind schema.GroupKind) string { return strings.TrimPrefix(kind.Group+"/"+kind.Kind, "/") }

func parseKind(name string) schema.GroupKind {
	group, kind, ok := strings.Cut(name, "/")
	if !ok {
		return core(group)
	}
	return schema.GroupKind{Group: group, Kind: kind}
}

func (c *collector) owners(served []resource) {
	for _, owner := range (&unstructured.Unstructured{Object: c.tree}).GetOwnerReferences() {
		version, err := schema.ParseGroupVersion(owner.APIVersion)
		if err != nil || owner.Kind == "" || owner.Name == "" {
			continue
		}
		c.found = append(c.found, reference{
			arc: "or", to: schema.GroupKind{Group: version.Group, Kind: owner.Kind}, namespace: c.namespace,
			name: owner.Name, uid: owner.UID,
			controller: ptr.Deref(owner.Controller, false), blockOwnerDeletion: ptr.Deref(owner.BlockOwnerDeletion, false),
		})
		said := c.found[len(c.found)-1]
		if slices.ContainsFunc(served, func(r resource) bool { return r.Group == said.to.Group && r.kind == said.to.Kind }) {
			continue
		}
		for _, r := range served {
			if moved := said; r.kind == owner.Kind && owner.UID != "" {
				moved.to.Group, moved.inferred = r.Group, true
				c.found = append(c.found, moved)
			}
		}
	}
}

// uses adds a reference by name to an object in the own namespace.
func (c *collector) uses(arc, field string, to schema.GroupKind, name string) {
	c.usesIn(c.namespace, arc, field, to, name)
}

// usesIn adds a reference by name to an object in a namespace; "" is the own
// namespace.
func (c *collector) usesIn(namespace, arc, field string, to schema.GroupKind, name string) {
	if name == "" || to.Kind == "" {
		return
	}
	namespace = cmp.Or(namespace, c.namespace)
	c.found = append(c.found, reference{arc: arc, field: field, to: to, namespace: namespace, name: name})
}

// object adds a reference from a map with a name and perhaps a namespace.
func (c *collector) object(arc, field string, to schema.GroupKind, value any) {
	c.usesIn(text(value, "namespace"), arc, field, to, text(value, "name"))
}

// selects adds a reference to all pods that a selector matches.
func (c *collector) selects(field string, selector labels.Selector) {
	if selector != nil {
		c.found = append(c.found, reference{arc: "r", field: field, to: core("Pod"), namespace: c.namespace, selector: selector})
	}
}

func core(kind string) schema.GroupKind { return schema.GroupKind{Kind: kind} }

// byAPIVersion returns the kind in the fields apiVersion and kind.
func byAPIVersion(value any) schema.GroupKind {
	version, err := schema.ParseGroupVersion(text(value, "apiVersion"))
	if err != nil {
		return schema.GroupKind{}
	}
	return schema.GroupKind{Group: version.Group, Kind: text(value, "kind")}
}

// byAPIGroup returns the kind in the fields apiGroup and kind.
func byAPIGroup(value any) schema.GroupKind {
	return schema.GroupKind{Group: text(value, "apiGroup"), Kind: text(value, "kind")}
}

// at returns the value at a path of keys, nil if there is none.
func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		tree, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = tree[key]
	}
	return value
}

func text(value any, path string) string {
	found, _ := at(value, path).(string)
	return found
}

func items(value any, path string) []any {
	found, _ := at(value, path).([]any)
	return found
}
