package refs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// Extract returns the references of a decoded JSON object of a kind: those to
// its owners, then those of the rules, in their order, and if no rule is of its
// kind, then those that conventions tell. One field names one target at most
// once; several fields may name the same. The references share the object's
// strings, but retain nothing else of it.
func (x *Extractor) Extract(kind graph.Kind, object map[string]any) []graph.Reference {
	references, _ := x.Examine(kind, object)
	return references
}

// Examine is Extract and says, in words that hold no value, what it found and
// could not read: a label selector, which then selects nothing, or more than a bound
// allows, which is left out.
func (x *Extractor) Examine(kind graph.Kind, object map[string]any) ([]graph.Reference, error) {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	w := walk{kind: kind, namespace: namespace, name: name}
	w.owners(metadata)
	root := x.tree(kind)
	w.visit(root, object, 0)
	told := x.read[kind]
	if told != nil {
		w.visit(&told.root, object, 0)
	}
	if x.guesses(kind) {
		for _, ref := range conventions(x.served, kind, object, told.nodes(root)) {
			w.found.add(&ref)
		}
	}
	return w.found.all(), w.fault()
}

// Selects tells whether Examine may have something to say about a kind.
func (x *Extractor) Selects(kind graph.Kind) bool {
	return x.tree(kind).selects()
}

// tree is of the rules that a kind has, or else of those of every kind.
func (x *Extractor) tree(kind graph.Kind) *node {
	if own := x.kinds.of(kind); own != nil {
		return own.root
	}
	return &x.others
}

func (n *node) selects() bool {
	return slices.ContainsFunc(n.ends, func(l leaf) bool { return l.method.selects() }) ||
		slices.ContainsFunc(n.fields, func(m member) bool { return m.node.selects() }) ||
		n.elements != nil && n.elements.selects() || n.values != nil && n.values.selects()
}

// Lists tells whether the extractor has rules of a kind, other than those of
// every kind. Of all other kinds outside Kubernetes' own groups, Extract guesses
// references by convention.
func (x *Extractor) Lists(kind graph.Kind) bool { return x.kinds[kind] != nil }

// guesses tells whether conventions say something of a kind.
func (x *Extractor) guesses(kind graph.Kind) bool {
	return !settled[kind.Group] && (!x.Lists(kind) || x.kept[kind])
}

// walk is one pass over one object.
type walk struct {
	// reached holds the value after each step to where the walk is.
	reached   [maxDepth + 1]any
	kind      graph.Kind
	namespace string // the object's own
	name      string
	found     found
	// malformed is the first rule whose selector cannot be read.
	malformed *leaf
}

func (w *walk) fault() error {
	if w.malformed == nil {
		return w.found.err()
	}
	return fmt.Errorf("a label selector in or beside %s cannot be parsed, and selects nothing", w.malformed.field)
}

func (w *walk) visit(n *node, value any, depth int) {
	w.reached[depth] = value
	for i := range n.ends {
		w.emit(&n.ends[i], value)
	}
	switch value := value.(type) {
	case map[string]any:
		for i := range n.fields {
			if below, ok := value[n.fields[i].key]; ok {
				w.visit(n.fields[i].node, below, depth+1)
			}
		}
		if n.values != nil {
			for _, key := range slices.Sorted(maps.Keys(value)) {
				w.visit(n.values, value[key], depth+1)
			}
		}
	case []any:
		if n.elements != nil {
			for _, element := range value {
				w.visit(n.elements, element, depth+1)
			}
		}
	}
}

// emit adds what the value at the end of a rule's path refers to.
func (w *walk) emit(l *leaf, value any) {
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
		w.malform(l)
		return
	}
	if text == "" && (ref.Selector == nil || len(ref.Selector.Requirements) == 0 && !l.emptySelectsAll) {
		return
	}
	reached := w.reached[:]
	if !l.applies(reached) {
		return
	}
	for i := range l.optionalIf {
		ref.Optional = ref.Optional || l.optionalIf[i].holds(reached)
	}
	switch l.method {
	case Inventory:
		w.emitEntry(&ref, text)
		return
	case Application:
		w.emitApplication(&ref, text)
		return
	case Address:
		w.emitAddresses(&ref, l, text)
		return
	case Names:
		w.emitNames(&ref, l, text)
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
		w.emitWithin(l, &ref)
		return
	}
	if ref.Namespace == "" || l.scope == graph.ScopeCluster {
		if ref.Namespace, ok = w.targetNamespace(l); !ok {
			return
		}
	}
	if w.isItself(&ref) {
		return
	}
	w.found.add(&ref)
}

// isItself reports whether a name is that of the object, such as spec.name.
func (w *walk) isItself(ref *graph.Reference) bool {
	return ref.Selector == nil && ref.Name == w.name && ref.To == w.kind && (ref.Scope == graph.ScopeCluster || ref.Namespace == w.namespace)
}

// malform notes that a selector cannot be read, if it were to be.
func (w *walk) malform(l *leaf) {
	if w.malformed == nil && l.applies(w.reached[:]) {
		w.malformed = l
	}
}

// applies tells whether a leaf's conditions hold and its exceptions do not.
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

// emitEntry adds the object that an inventory's entry names.
func (w *walk) emitEntry(ref *graph.Reference, id string) {
	entry, ok := parseInventoryID(id)
	if !ok {
		return
	}
	entry.Type, entry.Field = ref.Type, ref.Field
	w.found.add(&entry)
}

// emitApplication adds selectors of all that an application is made of.
func (w *walk) emitApplication(ref *graph.Reference, text string) {
	selectors, _ := parseApplication(text)
	for i := range selectors {
		selectors[i].Type, selectors[i].Field = ref.Type, ref.Field
		w.found.add(&selectors[i])
	}
}

// emitAddresses adds the Services that a text may be the addresses of.
func (w *walk) emitAddresses(ref *graph.Reference, l *leaf, text string) {
	ref.To, _ = l.target(w.reached[:])
	ref.Optional = true
	for a := range addresses(text) {
		ref.Name, ref.Namespace = a.service, cmp.Or(a.namespace, w.namespace)
		if ref.Namespace != "" {
			w.found.add(ref)
		}
	}
}

// emitNames adds what a list of names may name.
func (w *walk) emitNames(ref *graph.Reference, l *leaf, text string) {
	ref.To, _ = l.target(w.reached[:])
	ref.Optional = true
	for one := range strings.SplitSeq(text, ",") {
		matchEach(l.naming.patterns, strings.TrimSpace(one), func(c captured) {
			ref.Name, ref.Namespace = c.name, ""
			if l.scope != graph.ScopeCluster {
				ref.Namespace = cmp.Or(c.namespace, w.namespace)
			}
			if ref.Namespace != "" || l.scope == graph.ScopeCluster {
				w.found.add(ref)
			}
		})
	}
}

// emitWithin adds a selector once for each namespace that it selects in.
func (w *walk) emitWithin(l *leaf, ref *graph.Reference) {
	where, ok := l.within.namespaces(w.namespace, w.reached[:])
	if !ok {
		w.malform(l)
		return
	}
	if where.all {
		ref.AllNamespaces, ref.Namespaces = true, where.by
		w.found.add(ref)
		return
	}
	for _, namespace := range where.some {
		if namespace != "" {
			ref.Namespace = namespace
			w.found.add(ref)
		}
	}
}

// targetNamespace returns the namespace of a leaf's target, false if it should
// have one but has none.
func (w *walk) targetNamespace(l *leaf) (string, bool) {
	if l.scope == graph.ScopeCluster || l.allNamespaces {
		return "", true
	}
	for i := range l.namespace {
		switch value := l.namespace[i].find(w.reached[:]).(type) {
		case nil:
		case string:
			if value != "" {
				return value, isNamespace(value)
			}
		default:
			return "", false
		}
	}
	return w.namespace, w.namespace != "" || l.scope != graph.ScopeNamespaced
}

// isNamespace tells the name of a namespace from a template or a glob.
func isNamespace(text string) bool {
	for i := range len(text) {
		if !namespace.takes(text[i]) {
			return false
		}
	}
	return true
}
