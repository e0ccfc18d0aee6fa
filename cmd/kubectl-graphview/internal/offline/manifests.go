package offline

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

// Manifests are the objects of files, and the objects that are made because these refer to them.
type Manifests struct {
	Objects map[Key]*Object
	// Warnings are about manifests that were read otherwise than their author may expect.
	Warnings []string
	// Faults are about files that could not be read.
	Faults []error

	namespace    string
	kinds        *kinds
	laid         bool      // over a cluster, which has the pods and further objects
	raw, schemas []*Object // as they were read
	// spare are the objects of kustomizations that are left out. They exist in an unknown namespace.
	spare      []*Object
	partial    map[string]bool // namespaces for which objects are left out
	charts     map[string]bool // names of folders with charts, or with values for one
	mentioned  map[string]bool // words of files that are no manifests, as scripts and playbooks
	bytes      int             // that were read
	read       map[string]bool
	allowed    map[string][]string // patterns of objects that are created elsewhere, by file; "" for all
	references map[Key][]graph.Reference
	resources  map[schema.GroupResource]schema.GroupKind
	byPlace    map[Key][]*Object // by kind and namespace, sorted
}

func newManifests(namespace string, cluster meta.RESTMapper) *Manifests {
	return &Manifests{
		Objects: map[Key]*Object{}, namespace: namespace, kinds: newKinds(cluster), laid: cluster != nil, partial: map[string]bool{}, charts: map[string]bool{}, mentioned: map[string]bool{}, read: map[string]bool{}, allowed: map[string][]string{},
		references: map[Key][]graph.Reference{}, resources: map[schema.GroupResource]schema.GroupKind{}, byPlace: map[Key][]*Object{},
	}
}

func (m *Manifests) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

func (m *Manifests) fault(err error) { m.Faults = append(m.Faults, err) }

// allowance is the comment that names an object that is created elsewhere.
var allowance = regexp.MustCompile(`(?m)#\s*graphview:\s*allow\s+(\S+)\s*$`)

// take returns the objects of a file.
func (m *Manifests) take(name string, f *file) []*Object {
	if f.fault != nil {
		m.fault(f.fault)
	}
	if m.read[name] {
		return nil // named twice
	}
	m.read[name] = true
	for _, found := range allowance.FindAllSubmatch(f.content, -1) {
		m.allowed[name] = append(m.allowed[name], string(found[1]))
	}
	return f.objects
}

// Allow names objects that are created elsewhere, as KIND/NAME or KIND/NAMESPACE/NAME with * for any text.
func (m *Manifests) Allow(patterns []string) { m.allowed[""] = append(m.allowed[""], patterns...) }

// Allows reports whether an object is allowed to be missing for a reference in a file.
func (m *Manifests) Allows(file string, missing Key) bool {
	for _, pattern := range slices.Concat(m.allowed[""], m.allowed[file]) {
		name := missing.Kind + "/" + missing.Name
		if strings.Count(pattern, "/") > 1 {
			name = missing.String()
		}
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name)); err == nil && ok {
			return true
		}
	}
	return false
}

// resolve finds the kinds of the objects, and makes the objects that they refer to.
func (m *Manifests) resolve() {
	for _, o := range slices.Concat(m.schemas, m.raw) {
		if text(o.metadata(), "namespace") != "" {
			m.kinds.inNamespace[schema.FromAPIVersionAndKind(text(o.Content, "apiVersion"), text(o.Content, "kind")).GroupKind()] = true
		}
		if text(o.Content, "kind") != "CustomResourceDefinition" {
			continue
		}
		if err := m.kinds.describe(o.Content); err != nil {
			m.fault(o.failed(err))
		}
	}
	unknown, targets := map[schema.GroupKind]bool{}, targetNamespaces(m.raw)
	for _, raw := range m.raw {
		named := schema.FromAPIVersionAndKind(text(raw.Content, "apiVersion"), text(raw.Content, "kind"))
		kind, known := m.kinds.of(named)
		_, served := m.kinds.served[kind.GroupKind()]
		switch {
		case unknown[named.GroupKind()] || !m.laid && known || served:
		case m.laid:
			unknown[named.GroupKind()] = true
			m.warn("%s: the cluster does not serve %s of %s yet, so such objects are not seen", raw.Position("kind", ""), named.Kind, named.GroupVersion())
		default:
			unknown[named.GroupKind()] = true
			m.warn("%s: nothing describes %s of %s, so it counts as namespaced; name its CustomResourceDefinition with --schemas", raw.Position("kind", ""), named.Kind, named.GroupVersion())
		}
		o := *raw
		o.identify(kind, m.namespace, targets.of(raw.File()))
		if o.beside {
			m.partial[o.Namespace] = true
		}
		if before := m.Objects[o.Key]; before != nil {
			m.warn("%s: %s again, after %s; the last one counts", o.Position("metadata.name", ""), o.Key, before.Position("metadata.name", ""))
		}
		m.Objects[o.Key] = &o
	}
	m.raw, m.schemas = nil, nil
	m.relate()
	if !m.laid {
		m.markNamespaces()
	}
}

// relate finds the references of the objects, and makes the objects that they refer to.
func (m *Manifests) relate() {
	for key, o := range m.Objects {
		m.references[key] = refs.Builtin().Extract(graph.Kind(key.GroupKind), o.Content)
	}
	for _, kind := range m.Kinds() {
		m.resources[schema.GroupResource{Group: kind.Group, Resource: kind.Resource}] = kind.GroupKind()
	}
	m.make()
	for _, o := range m.sorted() {
		place := Key{GroupKind: o.GroupKind, Namespace: o.Namespace}
		m.byPlace[place] = append(m.byPlace[place], o)
	}
}

// sorted returns the objects by key.
func (m *Manifests) sorted() []*Object {
	all := make([]*Object, 0, len(m.Objects))
	for _, o := range m.Objects {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Object) int {
		return strings.Compare(a.Group+"/"+a.Key.String(), b.Group+"/"+b.Key.String())
	})
	return all
}

// Count returns the number of objects that manifests have.
func (m *Manifests) Count() (n int) {
	for _, o := range m.Objects {
		if !o.Made() {
			n++
		}
	}
	return n
}

// OfKind returns the objects of a kind.
func (m *Manifests) OfKind(group, kind string) []*Object {
	return slices.DeleteFunc(m.sorted(), func(o *Object) bool { return o.Group != group || o.Key.Kind != kind })
}

// In returns the objects of a kind in a namespace.
func (m *Manifests) In(kind schema.GroupKind, namespace string) []*Object {
	return m.byPlace[Key{GroupKind: kind, Namespace: namespace}]
}

// Namespaces returns the namespaces that the manifests describe.
func (m *Manifests) Namespaces() []string { return slices.Sorted(maps.Keys(m.described())) }

// Spread returns the namespaces of all objects that manifests have.
func (m *Manifests) Spread() []string {
	found := map[string]bool{}
	for key, o := range m.Objects {
		if !o.Made() && key.Namespace != "" {
			found[key.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// placeholder is a name, or a part of one, that is replaced before the object is applied.
var placeholder = regexp.MustCompile(`[${}<>%_]|^[A-Z0-9-]*[A-Z][A-Z0-9-]*$|(?i:(change|patch|replace)[-_]?me)`)

// IsPlaceholder reports whether a name stands for an unknown one, which the manifests do not have.
func IsPlaceholder(name string) bool { return placeholder.MatchString(name) }

// Kinds returns the kinds that are served.
func (m *Manifests) Kinds() []Kind { return m.kinds.all() }

// Find returns the object of a resource.
func (m *Manifests) Find(group, resource, namespace, name string) *Object {
	return m.Objects[Key{m.resources[schema.GroupResource{Group: group, Resource: resource}], namespace, name}]
}
