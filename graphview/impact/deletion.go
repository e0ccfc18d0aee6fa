package impact

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// result is what the search has found out about one object.
type result struct {
	verdict Verdict
	// step is the first step of the path to the target. The target has none.
	step  Step
	depth int
	// pruned: an installer of releases deletes the object.
	pruned bool
}

// search answers one question.
type search struct {
	*Graph

	target  graph.Key
	policy  Policy
	results map[graph.Key]*result
	// order has the deleted objects, each after its cause.
	order []graph.Key
	// broken has the objects with BreaksNow whose referrers are not judged yet.
	broken []graph.Key
	holds  map[graph.Key][]Hold
}

// Of returns what the deletion of an object in the graph does. ok is false if the graph lacks the
// object.
func (g *Graph) Of(object graph.Key, policy Policy) (answer Answer, ok bool) {
	if object, ok = g.Find(object); !ok {
		return Answer{}, false
	}
	g.index()
	s := &search{Graph: g, target: object, policy: policy, results: map[graph.Key]*result{}, holds: map[graph.Key][]Hold{}}
	s.delete(object, &result{verdict: Deleted})
	for next := 0; next < len(s.order); { // follow appends to it
		s.follow(s.order[next])
		next++
	}
	s.affect()
	s.hold()
	return s.answer(), true
}

// deleted reports whether an object is deleted.
func (s *search) deleted(key graph.Key) bool {
	f := s.results[key]
	return f != nil && f.verdict == Deleted
}

func (s *search) delete(key graph.Key, f *result) {
	if _, there := s.objects[key]; there && !s.deleted(key) {
		s.results[key] = f
		s.order = append(s.order, key)
	}
}

// deletedWith returns the result for an object that is deleted because of another.
func (s *search) deletedWith(key, cause graph.Key, step Step) *result {
	step.From, step.To = key, cause
	return &result{verdict: Deleted, step: step, depth: s.results[cause].depth + 1}
}

// follow deletes the objects that are deleted together with a deleted one.
func (s *search) follow(key graph.Key) {
	switch {
	case is(key, "", "namespaces"):
		s.content(key, func(k graph.Key) bool { return k.Namespace == key.Name })
	case is(key, "apiextensions.k8s.io", "customresourcedefinitions"):
		s.content(key, func(k graph.Key) bool { return k.Resource.Resource+"."+k.Group == key.Name })
	}
	for _, l := range s.in[key] {
		switch {
		case l.Missing:
		case l.Type == graph.OwnerReference && s.collected(l), l.Type != graph.OwnerReference && s.deletedByController(l):
			s.delete(l.From, s.deletedWith(l.From, key, stepOf(l, false)))
		}
	}
	f := s.results[key]
	if !f.pruned && !s.objects[key].Facts.Prunes || is(key, "", "persistentvolumes") {
		return
	}
	for _, l := range s.out[key] {
		if l.Missing || s.objects[l.To].Facts.Kept || !installs(l) {
			continue
		}
		gone := s.deletedWith(l.To, key, stepOf(l, true))
		// Helm deletes the objects of the release.
		gone.pruned = is(l.To, "", "secrets") && is(key, "helm.toolkit.fluxcd.io", "helmreleases")
		s.delete(l.To, gone)
	}
}

// content deletes the objects in a namespace or of a kind.
func (s *search) content(key graph.Key, in func(graph.Key) bool) {
	var all []graph.Key
	for k := range s.objects {
		if in(k) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, compare)
	for _, k := range all {
		s.delete(k, s.deletedWith(k, key, Step{Relation: Content}))
	}
}

// collected reports whether the garbage collector deletes a dependent: no owner is left, and the
// dependent is not orphaned. An owner outside the graph counts as left.
func (s *search) collected(l link) bool {
	if s.policy == Orphan && l.To == s.target || l.From.Namespace == "" && l.To.Namespace != "" {
		return false
	}
	return !slices.ContainsFunc(s.out[l.From], func(owner link) bool {
		switch {
		case owner.Type != graph.OwnerReference:
			return false
		case owner.Missing:
			return owner.Outside
		default:
			return !s.deleted(owner.To) || s.policy == Orphan && owner.To == s.target
		}
	})
}

// deletedByController reports whether a controller of Kubernetes deletes an object together with the target
// of its reference, without an owner reference.
func (s *search) deletedByController(l link) bool {
	from, to := l.From, l.To
	switch {
	case is(to, "", "services"):
		return is(from, "", "endpoints") && l.has("metadata.name") || is(from, "networking.k8s.io", "ipaddresses")
	case is(to, "", "nodes"):
		return is(from, "", "pods") && l.has("spec.nodeName")
	case is(to, "", "persistentvolumeclaims"):
		return is(from, "", "persistentvolumes") && s.objects[from].Facts.Prunes
	case is(to, "", "serviceaccounts"):
		return is(from, "", "secrets") && l.says("is a token of")
	default:
		return false
	}
}

// installs reports whether an installer manages the target.
func installs(l link) bool {
	return l.says("installs") || is(l.From, "helm.toolkit.fluxcd.io", "helmreleases") &&
		slices.ContainsFunc(l.Fields, func(field string) bool {
			return strings.HasPrefix(field, "status.history") || strings.HasPrefix(field, "status.helmChart")
		})
}

func (l *link) says(word string) bool { return slices.Contains(l.Words, word) }

func (l *link) has(field string) bool { return slices.Contains(l.Fields, field) }

func stepOf(l link, reversed bool) Step {
	return Step{Relation: Relation(l.Type.String()), Fields: l.Fields, Words: l.Words, Reversed: reversed}
}
