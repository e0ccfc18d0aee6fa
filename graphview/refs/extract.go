package refs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"graphview.dev/graphview/graph"
)

// Extract returns the references of a decoded JSON object: first to its owners, then by
// rules in their order and, for a kind without rules, by convention. A field has at most
// one reference to a target; several fields may refer to the same target. The references
// share the object's strings, but retain nothing else of it.
func (x *Extractor) Extract(kind graph.Kind, object map[string]any) []graph.Reference {
	references, _ := x.Examine(kind, object)
	return references
}

// Examine is Extract with an error for the references that are left out: a label selector
// that does not parse, which selects nothing, or references beyond a bound. The error
// contains no values of the object.
func (x *Extractor) Examine(kind graph.Kind, object map[string]any) ([]graph.Reference, error) {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	e := extraction{kind: kind, namespace: namespace, name: name}
	room := rooms.Get().(*[few]graph.Reference) //nolint:forcetypeassert // New makes nothing else
	e.found.all = room[:0]
	defer func() {
		clear(room[:])
		rooms.Put(room)
	}()
	e.owners(x.served, metadata)
	root := x.tree(kind)
	e.visit(root, object, 0)
	reading := x.read[kind]
	if reading != nil {
		e.visit(&reading.root, object, 0)
	}
	if x.Infers(kind) {
		for _, ref := range conventions(x.served, kind, object, reading.nodes(root), maxGuessed) {
			e.found.add(&ref)
		}
	}
	if needsNothing(kind, object) {
		e.found.allowMissing()
	}
	return append([]graph.Reference(nil), e.found.all...), e.fault() // of its own size, since callers keep it
}

// rooms has room for the references of one object while they are collected.
var rooms = sync.Pool{New: func() any { return new([few]graph.Reference) }}

// needsNothing reports whether no target of an object's references has to exist any more: a run has ended, or a
// ReplicaSet of the history has no replicas.
func needsNothing(kind graph.Kind, object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	status, _ := object["status"].(map[string]any)
	for _, field := range endedAt {
		if at, _ := status[field].(string); at != "" {
			return true
		}
	}
	switch phase, _ := status["phase"].(string); kind.Kind {
	case "Pod", "Workflow":
		return phase == "Succeeded" || phase == "Failed" || phase == "Error"
	case "ReplicaSet", "ReplicationController":
		return isZero(spec["replicas"])
	default:
		return false
	}
}

// endedAt are fields of a status with the time at which a run has ended.
var endedAt = []string{"completionTime", "completionTimestamp", "finishedAt"}

func isZero(value any) bool { return value == float64(0) || value == int64(0) }

// tree returns the tree of a kind's rules or, if it has none, of the rules for every kind.
func (x *Extractor) tree(kind graph.Kind) *node {
	if own := x.kinds.of(kind); own != nil {
		return own.root
	}
	return &x.commonRules
}

// Lists reports whether the extractor has rules of a kind, other than the rules for every
// kind. For a kind without rules that is not of Kubernetes, Extract applies conventions.
func (x *Extractor) Lists(kind graph.Kind) bool { return x.kinds[kind] != nil }

// Infers reports whether conventions apply to a kind, and so whether the references of its objects depend on the kinds
// that the cluster serves in the kind's domain.
func (x *Extractor) Infers(kind graph.Kind) bool {
	return !kubernetesGroups[kind.Group] && (!x.Lists(kind) || x.conventional[kind])
}

// extraction is the state of one pass over one object.
type extraction struct {
	// reached holds the value after each step of the current path.
	reached   [maxDepth + 1]any
	kind      graph.Kind
	namespace string // the object's own
	name      string
	found     found
	// malformed is the first rule with a selector that does not parse.
	malformed *leaf
}

func (e *extraction) fault() error {
	if e.malformed == nil {
		return e.found.err()
	}
	return fmt.Errorf("a label selector in or beside %s cannot be parsed, and selects nothing", e.malformed.field)
}

func (e *extraction) visit(n *node, value any, depth int) {
	e.reached[depth] = value
	for i := range n.ends {
		e.emit(&n.ends[i], value)
	}
	switch value := value.(type) {
	case map[string]any:
		for i := range n.fields {
			if below, ok := value[n.fields[i].key]; ok {
				e.visit(n.fields[i].node, below, depth+1)
			}
		}
		if n.values != nil {
			for _, key := range slices.Sorted(maps.Keys(value)) {
				e.visit(n.values, value[key], depth+1)
			}
		}
	case []any:
		if n.elements != nil {
			for _, element := range value {
				e.visit(n.elements, element, depth+1)
			}
		}
	}
}

// emit adds the references of the value at the end of a rule's path.
func (e *extraction) emit(l *leaf, value any) {
	ref := graph.Reference{
		Type:          l.arc,
		Scope:         l.scope,
		AllNamespaces: l.allNamespaces,
		Optional:      l.optional,
		Inferred:      l.inferred,
		Field:         l.field,
	}
	text := ""
	switch l.method {
	case Name, Inventory, Application, Address, Names:
		text, _ = value.(string)
	case Object:
		object, _ := value.(map[string]any)
		text, _ = object["name"].(string)
	case Selector:
		ref.Selector = labelSelector(value)
	case Labels:
		ref.Selector = labelsSelector(value)
	}
	if l.method.selects() && ref.Selector == nil && value != nil {
		e.malform(l)
		return
	}
	if text == "" && (ref.Selector == nil || len(ref.Selector.Requirements) == 0 && !l.emptySelectsAll) {
		return
	}
	reached := e.reached[:]
	if !l.applies(reached) {
		return
	}
	if l.remote != nil {
		if ref.Field = l.remote.cluster(e.namespace, reached); ref.Field == "" {
			return
		}
	}
	for i := range l.optionalIf {
		ref.Optional = ref.Optional || l.optionalIf[i].holds(reached)
	}
	switch l.method {
	case Inventory:
		if entry, ok := parseInventoryID(text); ok {
			e.emitListed(&ref, entry)
		}
		return
	case Application:
		selectors, _ := parseApplication(text)
		e.emitListed(&ref, selectors...)
		return
	case Address:
		e.emitAddresses(&ref, l, text)
		return
	case Names:
		e.emitNames(&ref, l, text)
		return
	default:
	}
	if l.naming == nil {
		ref.Name = text
	} else if !l.naming.name(&ref, text, reached) {
		return
	}
	var ok bool
	if ref.To, ok = l.target(reached); !ok || l.plausible && !isPlausible(ref.Name) {
		return
	}
	if l.within != nil {
		e.emitWithin(l, &ref)
		return
	}
	if ref.Namespace == "" || l.scope == graph.ScopeCluster {
		if ref.Namespace, ok = e.targetNamespace(l); !ok {
			if l.ofProject {
				e.emitOfProject(&ref)
			}
			return
		}
	}
	switch {
	case l.remote != nil && ref.To == AnyKind:
		e.found.append(&graph.Reference{Field: ref.Field})
	case e.isItself(&ref) && l.remote == nil:
	case l.mark != "":
		e.emitMarked(l, &ref)
	default:
		e.found.add(&ref)
	}
}

// isItself reports whether a reference is to the object itself, such as spec.name.
func (e *extraction) isItself(ref *graph.Reference) bool {
	return ref.Selector == nil && ref.Name == e.name && ref.To == e.kind && (ref.Scope == graph.ScopeCluster || ref.Namespace == e.namespace)
}

// malform records that the selector of a rule does not parse, if the rule applies.
func (e *extraction) malform(l *leaf) {
	if e.malformed == nil && l.applies(e.reached[:]) {
		e.malformed = l
	}
}

// applies reports whether the conditions of a rule hold and its exceptions do not.
func (l *leaf) applies(reached []any) bool {
	for _, c := range l.conditions {
		if !c.holds(reached) {
			return false
		}
	}
	for _, c := range l.exceptions {
		if c.holds(reached) {
			return false
		}
	}
	return true
}

// emitOfProject adds references from a cluster-scoped object whose controller reads the target in its own
// namespace, which usually has the name of the project.
func (e *extraction) emitOfProject(ref *graph.Reference) {
	if e.namespace != "" {
		return
	}
	ref.Inferred, ref.Optional, ref.Field = true, true, graph.InferredField+strings.TrimPrefix(ref.Field, graph.InferredField)
	for _, ref.Namespace = range namespacesOf(e.kind.Group) {
		e.found.add(ref)
	}
}

// namespacesOf returns the namespaces in which the controller of a group usually runs: cert-manager and
// cert-manager-system for cert-manager.io.
func namespacesOf(group string) []string {
	project, _, ok := strings.Cut(DomainOf(group), ".")
	if !ok || !isNamespace(project) {
		return nil
	}
	return []string{project, project + "-system"}
}

// emitListed adds the targets that the value of a rule lists.
func (e *extraction) emitListed(ref *graph.Reference, listed ...graph.Reference) {
	for i := range listed {
		listed[i].Type, listed[i].Field = ref.Type, ref.Field
		e.found.add(&listed[i])
	}
}

// emitAddresses adds references to the Services that the addresses in a text may name. One that ends in .svc is
// no guess, although the object may do without the Service. A name alone is an address where the field beside it
// is a name for hosts, such as DB_HOST.
func (e *extraction) emitAddresses(ref *graph.Reference, l *leaf, text string) {
	ref.To, _ = l.target(e.reached[:])
	if !isDotted(text) && isObjectName(text) && !isDigits(text) && l.hosts.keys != nil && e.namespace != "" {
		if name, _ := l.hosts.find(e.reached[:]).(string); isHostKey(name) {
			ref.Name, ref.Namespace = text, e.namespace
			e.found.add(ref)
		}
		return
	}
	for a := range addresses(text) {
		if ref.Inferred, ref.Field = l.inferred, l.field; a.qualified {
			ref.Inferred, ref.Field = false, strings.TrimPrefix(l.field, graph.InferredField)
		}
		ref.Name, ref.Namespace = a.service, cmp.Or(a.namespace, e.namespace)
		if ref.Namespace != "" {
			e.found.add(ref)
		}
	}
}

// emitNames adds references to the objects that a list of names may name.
func (e *extraction) emitNames(ref *graph.Reference, l *leaf, text string) {
	ref.To, _ = l.target(e.reached[:])
	for one := range namesIn(text) {
		matchEach(l.naming.patterns, strings.TrimSpace(one), func(c captured) bool {
			ref.Name, ref.Namespace = c.name, ""
			if l.scope != graph.ScopeCluster {
				ref.Namespace = cmp.Or(c.namespace, e.namespace)
			}
			if ref.Namespace != "" || l.scope == graph.ScopeCluster {
				e.found.add(ref)
			}
			return true
		})
	}
}

// emitWithin adds a selector once for each of its namespaces, or once for all.
func (e *extraction) emitWithin(l *leaf, ref *graph.Reference) {
	where, ok := l.within.namespaces(e.namespace, e.reached[:])
	if !ok {
		e.malform(l)
		return
	}
	if where.all {
		ref.AllNamespaces, ref.Namespaces = true, where.by
		e.found.add(ref)
		return
	}
	for _, namespace := range where.some {
		if namespace != "" {
			ref.Namespace = namespace
			e.found.add(ref)
		}
	}
}

// targetNamespace returns the namespace of a rule's target. It returns false if the target
// is namespaced and no namespace is set.
func (e *extraction) targetNamespace(l *leaf) (string, bool) {
	if l.scope == graph.ScopeCluster || l.allNamespaces {
		return "", true
	}
	for i := range l.namespace {
		switch value := l.namespace[i].find(e.reached[:]).(type) {
		case nil:
		case string:
			if value != "" {
				return value, isNamespace(value)
			}
		default:
			return "", false
		}
	}
	if l.remote != nil && l.scope == graph.ScopeUnknown {
		return "", true // the scopes of kinds in other clusters are not known
	}
	return e.namespace, e.namespace != "" || l.scope != graph.ScopeNamespaced
}

// isNamespace reports whether a text can be the name of a namespace, and not a template or
// a glob.
func isNamespace(text string) bool {
	for i := range len(text) {
		if !namespace.takes(text[i]) {
			return false
		}
	}
	return true
}
