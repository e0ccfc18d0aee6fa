package oracle

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// mostFields is the number of field paths that an arc names.
const mostFields = 4

// connect resolves the references of the objects. A reference to a kind that is not
// watched gives no arc.
func connect(served, watched []resource, objects []object, around outside) map[ArcKey]Attributes {
	kinds := map[schema.GroupKind]resource{}
	for _, r := range watched {
		kinds[schema.GroupKind{Group: r.Group, Kind: r.kind}] = r
	}
	byKey := map[VertexKey]*object{}
	for i := range objects {
		byKey[objects[i].key] = &objects[i]
	}
	arcs := map[ArcKey]Attributes{}
	for i := range objects {
		from := &objects[i]
		said := slices.Concat(references(from, served), from.declared)
		// An arc that depends on the labels of namespaces is used only if no other arc connects
		// the objects.
		plain := connectOne(from, said, kinds, byKey, around, false)
		maps.Copy(arcs, connectOne(from, said, kinds, byKey, around, true))
		maps.Copy(arcs, plain)
	}
	return arcs
}

// connectOne resolves the references of one object: the ones by labels of namespaces, or
// all others.
func connectOne(from *object, said []reference, kinds map[schema.GroupKind]resource, objects map[VertexKey]*object, around outside, sited bool) map[ArcKey]Attributes {
	arcs := map[ArcKey]Attributes{}
	for _, reference := range said {
		to, ok := kinds[reference.to]
		if !ok || (reference.sites != nil) != sited {
			continue
		}
		for key, missing := range targets(reference, to, objects) {
			if missing && reference.inferred && around.where(to, key) != "outside" {
				continue // without its target it is no reference
			}
			add(arcs, ArcKey{From: from.key, To: key, Type: reference.arc}, reference, missing)
		}
	}
	return arcs
}

// targets returns the vertices that a reference leads to, and whether each
// is missing.
func targets(reference reference, to resource, objects map[VertexKey]*object) map[VertexKey]bool {
	namespace := reference.namespace
	if !to.namespaced {
		namespace = ""
	}
	if reference.selector != nil {
		selected := map[VertexKey]bool{}
		for key, o := range objects {
			if o.kind != reference.to || !reference.everywhere && key.Namespace != namespace || !reference.selector.Matches(labelsOf(o.tree)) {
				continue
			}
			if site := objects[VertexKey{Version: "v1", Resource: "namespaces", Name: key.Namespace}]; reference.sites == nil || site != nil && reference.sites.Matches(labelsOf(site.tree)) {
				selected[key] = false
			}
		}
		return selected
	}
	if reference.numbered {
		numbered, found := regexp.MustCompile("^"+regexp.QuoteMeta(reference.name)+"-(0|[1-9][0-9]*)$"), map[VertexKey]bool{}
		for key, o := range objects {
			if o.kind == reference.to && key.Namespace == namespace && numbered.MatchString(key.Name) {
				found[key] = false
			}
		}
		return found
	}
	if to.namespaced && namespace == "" {
		return nil // the kind has no such scope
	}
	key := VertexKey{Group: to.Group, Version: to.Version, Resource: to.Resource, Namespace: namespace, Name: reference.name}
	target, exists := objects[key]
	missing := !exists || reference.uid != "" && (&unstructured.Unstructured{Object: target.tree}).GetUID() != reference.uid
	return map[VertexKey]bool{key: missing}
}

// add merges the references of one type between two vertices into one arc,
// which is missing only if none of them leads anywhere.
func add(arcs map[ArcKey]Attributes, key ArcKey, reference reference, missing bool) {
	attributes, exists := arcs[key]
	attributes.Missing = missing && (!exists || attributes.Missing)
	attributes.Controller = attributes.Controller || reference.controller
	attributes.BlockOwnerDeletion = attributes.BlockOwnerDeletion || reference.blockOwnerDeletion
	if reference.field != "" && !slices.Contains(attributes.Fields, reference.field) {
		attributes.Fields = append(attributes.Fields, reference.field)
		slices.SortFunc(attributes.Fields, func(a, b string) int {
			return cmp.Or(cmp.Compare(guessed(a), guessed(b)), cmp.Compare(a, b))
		})
		attributes.Fields = attributes.Fields[:min(len(attributes.Fields), mostFields)]
		slices.Sort(attributes.Fields)
	}
	arcs[key] = attributes
}

// guessed is 1 for the field of an inferred reference, which is left out before others.
func guessed(field string) int {
	if strings.HasPrefix(field, "inferred/") {
		return 1
	}
	return 0
}

func labelsOf(tree map[string]any) labels.Set {
	return (&unstructured.Unstructured{Object: tree}).GetLabels()
}

// reference is one reference of an object: to a target by name, or to all targets
// that a selector matches.
type reference struct {
	arc       string
	to        schema.GroupKind
	namespace string // of the target, if its kind is namespaced
	name      string
	selector  labels.Selector
	// everywhere: the selector selects in every namespace.
	everywhere bool
	// numbered: the name is followed by a number of a StatefulSet's pod.
	numbered bool
	// sites selects the namespaces of the targets, among the objects.
	sites labels.Selector
	field string // empty for owner references
	// inferred: there is a reference only while its target exists.
	inferred bool

	uid                            types.UID
	controller, blockOwnerDeletion bool
}

// parseSelector parses a LabelSelector; nil if it is absent or invalid.
func parseSelector(value any) labels.Selector {
	tree, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	var parsed metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &parsed); err != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&parsed)
	if err != nil {
		return nil
	}
	return selector
}
