package refs

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

const (
	// maxGuessed bounds the values that are visited in one object, and maxGuessDepth
	// their depth. Objects of real APIs are smaller.
	maxGuessed    = 4096
	maxGuessDepth = 24
)

// kubernetesGroups are the groups of Kubernetes itself. The table covers all of their kinds, so
// conventions do not apply: a kind without rules has no references.
var kubernetesGroups = set("", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
	"authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "metrics.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io")

// conventionReader reads an object of a kind without rules, and finds references by the API conventions of
// Kubernetes. A kind without a group that is not of Kubernetes counts as one of the object's group; the
// graph drops references to kinds that do not exist.
type conventionReader struct {
	served          *Served
	kind            graph.Kind // the object's own
	namespace, name string
	left            int // values to look at
	found           []graph.Reference
	// fieldRules are the rules for the current value. Conventions do not apply to the fields
	// that they read.
	fieldRules nodes
	// current is the object that holds the current value. around is the namespace field of current or of
	// the nearest object around it; it is set only if the walked object has no namespace.
	current        map[string]any
	outerNamespace string
	// path leads to the current value: keys, and "" for an element of a list.
	path []string
}

// conventions returns the references that an object contains by convention, or nil if it has more than
// most values.
func conventions(served *Served, kind graph.Kind, object map[string]any, rules nodes, most int) []graph.Reference {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	g := conventionReader{
		served: served, kind: kind, namespace: namespace, name: name,
		left: most, path: make([]string, 0, maxGuessDepth), fieldRules: rules, found: make([]graph.Reference, 0, few),
	}
	g.object(object)
	if g.left < 0 {
		// The result for a part of the object would depend on the order of its keys.
		return nil
	}
	slices.SortFunc(g.found, func(a, b graph.Reference) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Name, b.Name), strings.Compare(a.To.Group, b.To.Group), strings.Compare(a.To.Kind, b.To.Kind))
	})
	return g.found
}

func (g *conventionReader) object(object map[string]any) {
	if len(g.path) == maxGuessDepth {
		return
	}
	rules, current, around := g.fieldRules, g.current, g.outerNamespace
	if g.current = object; g.namespace == "" {
		if namespace, _ := object["namespace"].(string); namespace != "" && isNamespace(namespace) {
			g.outerNamespace = namespace
		}
	}
	for key, value := range object {
		if g.left < 0 {
			break
		}
		g.path = append(g.path, key)
		g.fieldRules = rules.member(key)
		g.value(key, value)
		g.path = g.path[:len(g.path)-1]
	}
	g.fieldRules, g.current, g.outerNamespace = rules, current, around
}

// value visits the value of a key or, if it is a list, its elements.
func (g *conventionReader) value(key string, value any) {
	g.left--
	ruled := g.fieldRules.source() != ByConvention
	switch value := value.(type) {
	case string:
		if !ruled {
			g.text(key, value)
		}
	case map[string]any:
		if isOpaque[key] || g.isContents(key, value) || !ruled && g.reference(key, value) || isCompleteObject(value) {
			return
		}
		if !ruled && !g.inferSelector(key, value) {
			g.inferObject(key, value)
		}
		g.object(value)
	case []any:
		if isOpaque[key] || len(g.path) == maxGuessDepth {
			return
		}
		g.path = append(g.path, "")
		singular, list := strings.TrimSuffix(key, "s"), g.fieldRules
		for _, element := range value {
			if g.left < 0 {
				break
			}
			g.fieldRules = list.element()
			g.value(singular, element)
		}
		g.path, g.fieldRules = g.path[:len(g.path)-1], list
	}
}

// text adds a reference to the object that a text names, by its key.
func (g *conventionReader) text(key, text string) {
	if isDigits(text) {
		return // a number names nothing
	}
	g.inferNamespace(key, text)
	target, ok := namedBy(key)
	if ok && g.meansOwn(key) {
		ok = false
	}
	switch namespace, name, both := strings.Cut(text, "/"); {
	case text == "":
	case !ok:
		g.inferText(key, text)
		g.inferAddress(key, text)
	case both && target.Scope == graph.ScopeNamespaced && isNamespace(namespace) && isPlausible(name):
		g.add(target, name, namespace)
	case isPlausible(text):
		g.add(target, text, g.namespaceBeside(key))
	}
}

// meansOwn reports whether a key that ends in a Kubernetes kind names a kind of the object's group:
// bmcSecretRef a BMCSecret, className perhaps a class.
func (g *conventionReader) meansOwn(key string) bool {
	targets := g.served.meaning(g.kind.Group, key).targets
	if len(targets) == 0 || targets[0].To.Group != g.kind.Group {
		return false
	}
	_, isKubernetes := kinds[targets[0].To.Kind]
	return len(targets) == 1 && !isKubernetes || strings.HasSuffix(key, "ClassName")
}

// namespaceBeside returns the namespace in a sibling field of a text: secretNamespace for secretName.
func (g *conventionReader) namespaceBeside(key string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(key, "Name"), "Ref")
	namespace, _ := g.current[base+"Namespace"].(string)
	if !isNamespace(namespace) {
		return ""
	}
	return namespace
}

// reference reports whether an object is a reference, and adds it.
func (g *conventionReader) reference(key string, object map[string]any) bool {
	name, _ := object["name"].(string)
	if name == "" || !isPlausible(name) {
		return false
	}
	namespace, _ := object["namespace"].(string)
	if !isNamespace(namespace) {
		return false
	}
	target, ok := g.targetOf(key, object)
	switch {
	case !ok:
	case g.isDoubtful(target, key, object):
		return g.inferObject(key, object)
	default:
		target = g.scopeOf(target, object)
		target.Optional = object["optional"] == true
		g.add(target, name, namespace)
	}
	return ok
}

// isDoubtful reports whether a reference counts only while its target exists: if its kind is not served,
// if it may mean another kind, or in Config Connector, which names its kinds like those of Kubernetes.
func (g *conventionReader) isDoubtful(target graph.Reference, key string, object map[string]any) bool {
	if g.served == nil {
		return false
	}
	_, saysKind := object["kind"]
	if !saysKind && strings.HasSuffix(key, "Ref") && strings.HasSuffix(g.kind.Group, configConnectorDomain) {
		return !strings.HasSuffix(key, "KeyRef")
	}
	if _, twin := g.served.clusterScopedVariant(target.To); twin && !saysKind && object[scopeFields[0]] == nil && object[scopeFields[1]] == nil {
		return true // may also mean the cluster-scoped variant of the kind
	}
	// A reference with a group of another domain is explicit.
	return target.Scope == graph.ScopeUnknown && DomainOf(target.To.Group) == DomainOf(g.kind.Group) && !namesGroup(object) &&
		!g.served.Serves(target.To) && (!saysKind || len(g.served.meaning(g.kind.Group, key).targets) > 0)
}

// namesGroup reports whether an object names the group of its target.
func namesGroup(object map[string]any) bool {
	for _, field := range [...]string{"apiVersion", "apiGroup", "group"} {
		if text, ok := object[field].(string); ok && text != "" {
			return true
		}
	}
	return false
}

// targetOf returns the kind that an object refers to, by its fields or else by its key.
func (g *conventionReader) targetOf(key string, object map[string]any) (graph.Reference, bool) {
	var none graph.Reference
	kind, _ := object["kind"].(string)
	if kind == "" {
		target, ok := targetByKey(key, g.kind.Group)
		if ok && target.To.Group != g.kind.Group && g.meansOwn(key) {
			return graph.Reference{}, false
		}
		if target.Scope == graph.ScopeUnknown && isKeyOfSecret(object) {
			return keyedBy(key)
		}
		return target, ok
	}
	if kind[0] < 'A' || kind[0] > 'Z' || isCompleteObject(object) {
		return none, false
	}
	if apiVersion, ok := object["apiVersion"].(string); ok {
		group, ok := groupOf(apiVersion)
		return graph.Reference{To: graph.Kind{Group: group, Kind: kind}}, ok && apiVersion != ""
	}
	for _, field := range [...]string{"apiGroup", "group"} {
		if group, ok := object[field].(string); ok {
			group, _, _ = strings.Cut(parseGroup(group), "/") // some write the version after it
			return graph.Reference{To: graph.Kind{Group: group, Kind: kind}}, true
		}
	}
	if !strings.HasSuffix(key, "Ref") && !strings.HasSuffix(key, "From") && (kind != "Secret" && kind != "ConfigMap" || !isNameOf(none, object)) {
		return none, false
	}
	if known, ok := kinds[kind]; ok {
		return known, true
	}
	return graph.Reference{To: graph.Kind{Group: g.kind.Group, Kind: kind}}, true
}

// add adds a reference. An empty namespace means the namespace of the object.
func (g *conventionReader) add(ref graph.Reference, name, namespace string) {
	ref.Type = cmp.Or(ref.Type, graph.Direct)
	if ref.Scope != graph.ScopeCluster {
		ref.Namespace = cmp.Or(namespace, g.namespace)
		if ref.Namespace == "" && ref.Scope == graph.ScopeNamespaced {
			ref.Inferred = true
			if ref.Namespace = g.outerNamespace; ref.Namespace == "" {
				if ref.To == kinds["Secret"].To || ref.To == kinds["ConfigMap"].To {
					for _, own := range namespacesOf(g.kind.Group) {
						g.add(ref, name, own)
					}
				}
				return
			}
		}
	}
	if ref.To == g.kind && name == g.name && ref.Namespace == g.namespace {
		return // the object's own name is not a reference
	}
	field, ok := g.field()
	if !ok {
		return
	}
	if ref.Inferred {
		field = graph.InferredField + field
	}
	// The guess may be wrong, so a missing target is a problem only if the schema says so.
	ref.Name, ref.Field, ref.Optional = name, field, ref.Optional || ref.Inferred || !g.fieldRules.require()
	g.found = append(g.found, ref)
}

// field returns the path in the form of the table's paths. It returns false if the path
// is too long for a reference, or contains a key that a path cannot contain.
func (g *conventionReader) field() (string, bool) {
	size := 0
	for _, key := range g.path {
		size += max(len(key)+1, 2)
	}
	if size > maxPath {
		return "", false
	}
	var b strings.Builder
	b.Grow(size)
	for i, key := range g.path {
		switch {
		case key == "":
			b.WriteString("[]")
			continue
		case strings.ContainsFunc(key, func(r rune) bool { return !isKeyRune(r) }):
			if !isPathKey(key) {
				return "", false
			}
			b.WriteString("['" + key + "']")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(key)
	}
	return b.String(), true
}

// isCompleteObject reports whether an object is a complete Kubernetes object inside another one, as in a template
// or a patch. Its references are not references of the object around it.
func isCompleteObject(object map[string]any) bool {
	if _, ok := object["kind"].(string); !ok {
		return false
	}
	for _, member := range [...]string{"metadata", "spec", "data"} {
		if _, ok := object[member].(map[string]any); ok {
			return true
		}
	}
	return false
}
