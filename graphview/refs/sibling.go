package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// What the fields beside a name say of it.

// ownName is where an object may name what it stands for elsewhere: a database, say.
const ownName = "spec.name"

// others are the kinds but that of the object itself.
func (t *teller) others(targets []graph.Reference) []graph.Reference {
	return slices.DeleteFunc(slices.Clone(targets), func(r graph.Reference) bool { return r.To == t.kind })
}

// isMetadata tells what an object made from a template gets as its metadata from other
// objects with labels and annotations.
func isMetadata(s *Schema) bool {
	if !s.has("labels", "annotations") {
		return false
	}
	for _, p := range s.Properties {
		switch p.Key {
		case "annotations", "creationTimestamp", "finalizers", "generateName", "labels", "name", "namespace", "ownerReferences", "uid":
		default:
			return false
		}
	}
	return true
}

// isDefinition tells an element of a list that says what is to be made, such as a
// Service with its ports, from one that refers to what there is.
func isDefinition(s *Schema) bool {
	return s.property("annotations") != nil || s.property("metadata") != nil || s.property("spec") != nil || s.property("ports") != nil
}

// isOwn tells whether the name of an element is its own: another text of it has the name
// of the kind that the list's description speaks of.
func (t *teller) isOwn(p place, s *Schema, said []graph.Reference) bool {
	if len(said) == 0 || !strings.HasSuffix(p.path, "[]") {
		return false
	}
	for _, beside := range s.Properties {
		switch beside.Key {
		case "name", "namespace", "key", "kind", "apiVersion", "apiGroup", "group":
			continue
		}
		if beside.Schema.Type != "string" || beside.Schema.Closed || saysOther(beside.Key) {
			continue
		}
		if agree(said, p.table.member(beside.Key).targets()) || agree(said, t.served.meaning(t.kind.Group, beside.Key)) {
			return true
		}
	}
	return false
}

// targets are the kinds that rules say a text has the name of.
func (n *node) targets() []graph.Reference {
	if n == nil {
		return nil
	}
	var all []graph.Reference
	for i := range n.ends {
		if end := &n.ends[i]; end.group.field == nil && end.kind.field == nil {
			all = append(all, graph.Reference{To: graph.Kind{Group: end.group.value, Kind: end.kind.value}})
		}
	}
	return all
}

// scopeFields are booleans that say that not the kind is meant but the one of the same
// name for the whole cluster: a ClusterIssuer, not an Issuer.
var scopeFields = [...]string{"clusterScope", "clusterScoped"}

// wide is the kind of the same name for the whole cluster, if it is served.
func (s *Served) wide(kind graph.Kind) (graph.Reference, bool) {
	kind.Kind = "Cluster" + kind.Kind
	if s == nil {
		return graph.Reference{}, false
	}
	scope, ok := s.scopes[kind]
	return graph.Reference{To: kind, Scope: scope}, ok
}

// scoped is what an object may name of which a boolean says the scope: each kind once,
// with the field. It is nil if there is no such boolean, or no kind of two scopes.
func (t *teller) scoped(s *Schema, targets []graph.Reference) []scopedTarget {
	for _, field := range scopeFields {
		if of := s.property(field); of == nil || of.Type != "boolean" {
			continue
		}
		var all []scopedTarget
		for _, target := range targets {
			if wide, ok := t.served.wide(target.To); ok {
				target.Scope = t.served.scopes[target.To]
				all = append(all, scopedTarget{target, wide, field + ":true"})
			}
		}
		return all
	}
	return nil
}

// scopedTarget is a kind, the one for the whole cluster, and when that is meant.
type scopedTarget struct {
	narrow, wide graph.Reference
	when         string
}

func (t *teller) tellScoped(path string, targets []scopedTarget, namespace string, inferred bool) {
	if len(targets) > maxNamesakes {
		return
	}
	for _, target := range targets {
		narrow, wide := t.rule(path, target.narrow, namespace, inferred), t.rule(path, target.wide, "", inferred)
		narrow.Unless, wide.If = []string{target.when}, []string{target.when}
		t.add(narrow)
		t.add(wide)
	}
}

// scopeOf is the kind that an object means which may say the scope.
func (g *guess) scopeOf(target graph.Reference, object map[string]any) graph.Reference {
	for _, field := range scopeFields {
		if object[field] == true {
			if wide, ok := g.served.wide(target.To); ok {
				return wide
			}
		}
	}
	return target
}

// namesakes counts kinds; those of one name and two scopes count once.
func namesakes(targets []graph.Reference) int {
	kinds := make([]graph.Kind, len(targets))
	for i := range targets {
		kinds[i] = targets[i].To
	}
	return countNamesakes(kinds)
}

func countNamesakes(kinds []graph.Kind) int {
	if len(kinds) > 2*maxNamesakes {
		return len(kinds)
	}
	n := 0
	for _, kind := range kinds {
		single, wide := strings.CutPrefix(kind.Kind, "Cluster")
		if !wide || !slices.Contains(kinds, graph.Kind{Group: kind.Group, Kind: single}) {
			n++
		}
	}
	return n
}
