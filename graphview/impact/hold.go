package impact

import (
	"slices"

	"graphview.dev/graphview/graph"
)

// maxHolders bounds the objects in one hold.
const maxHolders = 3

// settled are the finalizers that the control plane removes by itself.
var settled = []string{
	"foregroundDeletion", "orphan", "kubernetes", "batch.kubernetes.io/job-tracking", "customresourcecleanup.apiextensions.k8s.io",
}

// hold finds the holds of the deleted objects. A hold may cause another one, so the search repeats until
// a round adds none. Each round goes one step further along the order of the deletions.
func (s *search) hold() {
	for again := true; again; {
		again = false
		for _, key := range s.order {
			if holds := s.holdsOf(key); len(holds) > len(s.holds[key]) {
				s.holds[key] = holds
				again = true
			}
		}
	}
}

func (s *search) holdsOf(key graph.Key) []Hold {
	var holds []Hold
	for _, name := range s.objects[key].Facts.Finalizers {
		switch {
		case slices.Contains(settled, name):
		case name == "kubernetes.io/pvc-protection":
			holds = s.heldBy(holds, name, s.in[key], func(l link) (graph.Key, bool) {
				pod := s.objects[l.From].Facts
				return l.From, is(l.From, "", "pods") && l.says("mounts") && !pod.Unscheduled && !pod.Ended
			})
		case name == "kubernetes.io/pv-protection":
			holds = s.heldBy(holds, name, s.in[key], func(l link) (graph.Key, bool) {
				return l.From, is(l.From, "", "persistentvolumeclaims") && l.says("is bound to")
			})
		default:
			holds = append(holds, Hold{Finalizer: name})
		}
	}
	if by := s.waitsFor(key); len(by) > 0 {
		holds = append(holds, Hold{By: by})
	}
	return holds
}

// heldBy adds a hold if users of the object are not deleted, or are held themselves.
func (s *search) heldBy(holds []Hold, finalizer string, links []link, user func(link) (graph.Key, bool)) []Hold {
	var by []graph.Key
	for _, l := range links {
		if key, uses := user(l); uses && len(by) < maxHolders && (!s.deleted(key) || len(s.holds[key]) > 0) {
			by = append(by, key)
		}
	}
	if len(by) == 0 {
		return holds
	}
	return append(holds, Hold{Finalizer: finalizer, By: by})
}

// waitsFor returns the held objects that must disappear before a deleted one: its owner, unless the
// dependents are deleted first; its dependents with blockOwnerDeletion, if they are; the content of a
// namespace, and the objects of a kind.
func (s *search) waitsFor(key graph.Key) []graph.Key {
	var by []graph.Key
	add := func(other graph.Key) {
		if other != key && len(by) < maxHolders && len(s.holds[other]) > 0 && !slices.Contains(by, other) {
			by = append(by, other)
		}
	}
	if step := s.results[key].step; s.policy != Foreground && !step.Reversed && step.Relation != "" && step.Relation != Content {
		add(step.To)
	}
	for _, l := range s.in[key] {
		if s.policy == Foreground && l.Type == graph.OwnerReference && l.Blocking && s.deleted(l.From) {
			add(l.From)
		}
	}
	if is(key, "", "namespaces") || is(key, "apiextensions.k8s.io", "customresourcedefinitions") {
		for _, other := range s.order {
			if step := s.results[other].step; step.Relation == Content && step.To == key && len(by) < maxHolders {
				add(other)
			}
		}
	}
	return by
}
