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

// hold finds the holds of the deleted objects. A hold may cause others, and each object begins to be held
// once.
func (s *search) hold() {
	follows := map[graph.Key][]graph.Key{} // the deleted objects by their cause
	for _, key := range s.order {
		if step := s.results[key].step; step.Relation != "" {
			follows[step.To] = append(follows[step.To], key)
		}
	}
	var work []graph.Key
	begin := func(key graph.Key) {
		if !s.held[key] && s.deleted(key) {
			s.held[key] = true
			work = append(work, key)
		}
	}
	for _, key := range s.order {
		if s.heldFromOutside(key) {
			begin(key)
		}
	}
	for len(work) > 0 && s.step() {
		key := work[len(work)-1]
		work = work[:len(work)-1]
		for l := range s.each(s.out[key]) {
			if s.waits(l) || slices.ContainsFunc(s.objects[l.To].Facts.Finalizers, func(name string) bool { return s.protects(name, l) }) {
				begin(l.To)
			}
		}
		for _, next := range follows[key] {
			if s.step() && s.waitsForCause(s.results[next].step) {
				begin(next)
			}
		}
		if step := s.results[key].step; step.Relation == Content {
			begin(step.To)
		}
	}
	for _, key := range s.order {
		if s.held[key] && s.step() {
			s.holds[key] = s.holdsOf(key, follows[key])
		}
	}
}

// heldFromOutside reports whether a finalizer holds the object although no deleted object is held.
func (s *search) heldFromOutside(key graph.Key) bool {
	for _, name := range s.objects[key].Facts.Finalizers {
		if !slices.Contains(settled, name) && (!protections[name] || len(s.users(key, name)) > 0) {
			return true
		}
	}
	return false
}

// protections are the finalizers that hold an object while another one uses it.
var protections = map[string]bool{pvcProtection: true, pvProtection: true}

const (
	pvcProtection = "kubernetes.io/pvc-protection"
	pvProtection  = "kubernetes.io/pv-protection"
)

// protects reports whether a finalizer protects the target of a link because its source uses it.
func (s *search) protects(finalizer string, l *link) bool {
	switch finalizer {
	case pvcProtection:
		pod := s.objects[l.From].Facts
		return is(l.From, "", "pods") && l.says("mounts") && !pod.Unscheduled && !pod.Ended
	case pvProtection:
		return is(l.From, "", "persistentvolumeclaims") && l.says("is bound to")
	default:
		return false
	}
}

// users returns users of an object that are not deleted, or are held themselves: at most maxHolders.
func (s *search) users(key graph.Key, finalizer string) (by []graph.Key) {
	for l := range s.each(s.in[key]) {
		if s.protects(finalizer, l) && (!s.deleted(l.From) || s.held[l.From]) {
			if by = append(by, l.From); len(by) == maxHolders {
				break
			}
		}
	}
	return by
}

// holdsOf returns the holds of an object, with the consequences of its deletion.
func (s *search) holdsOf(key graph.Key, follows []graph.Key) (holds []Hold) {
	for _, name := range s.objects[key].Facts.Finalizers {
		switch {
		case slices.Contains(settled, name):
		case protections[name]:
			if by := s.users(key, name); len(by) > 0 {
				holds = append(holds, Hold{Finalizer: name, By: by})
			}
		default:
			holds = append(holds, Hold{Finalizer: name})
		}
	}
	if by := s.waitsFor(key, follows); len(by) > 0 {
		holds = append(holds, Hold{By: by})
	}
	return holds
}

// waitsFor returns the held objects that must disappear before a deleted one: its owner, unless the
// dependents are deleted first; its dependents with blockOwnerDeletion, if they are; the content of a
// namespace, and the objects of a kind.
func (s *search) waitsFor(key graph.Key, follows []graph.Key) (by []graph.Key) {
	add := func(other graph.Key) (room bool) {
		if s.held[other] && !slices.Contains(by, other) {
			by = append(by, other)
		}
		return len(by) < maxHolders
	}
	if step := s.results[key].step; s.waitsForCause(step) {
		add(step.To)
	}
	for l := range s.each(s.in[key]) {
		if s.waits(l) && !add(l.From) {
			return by
		}
	}
	for _, other := range follows {
		if !s.step() || s.results[other].step.Relation == Content && !add(other) {
			break
		}
	}
	return by
}

// waitsForCause reports whether a deleted object disappears only after the cause of its deletion, which
// its step leads to.
func (s *search) waitsForCause(step Step) bool {
	return s.policy != Foreground && !step.Reversed && step.Relation != "" && step.Relation != Content
}

// waits reports whether the target of a link disappears only after its source.
func (s *search) waits(l *link) bool {
	return s.policy == Foreground && l.Type == graph.OwnerReference && l.Blocking && s.deleted(l.From)
}
