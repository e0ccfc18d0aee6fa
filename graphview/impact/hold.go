package impact

import (
	"slices"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
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
	follows := map[streamv1alpha1.Key][]streamv1alpha1.Key{} // the deleted objects by their cause
	for _, key := range s.order {
		if step := s.results[key].step; step.Type != "" {
			follows[step.To] = append(follows[step.To], key)
		}
	}
	var work []streamv1alpha1.Key
	begin := func(key streamv1alpha1.Key) {
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
		if step := s.results[key].step; step.Type == content {
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
func (s *search) heldFromOutside(key streamv1alpha1.Key) bool {
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
func (s *search) users(key streamv1alpha1.Key, finalizer string) (by []streamv1alpha1.Key) {
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
func (s *search) holdsOf(key streamv1alpha1.Key, follows []streamv1alpha1.Key) (holds []streamv1alpha1.ImpactHold) {
	for _, name := range s.objects[key].Facts.Finalizers {
		switch {
		case slices.Contains(settled, name):
		case protections[name]:
			if by := s.users(key, name); len(by) > 0 {
				holds = append(holds, streamv1alpha1.ImpactHold{Finalizer: name, By: by})
			}
		default:
			holds = append(holds, streamv1alpha1.ImpactHold{Finalizer: name})
		}
	}
	if by := s.waitsFor(key, follows); len(by) > 0 {
		holds = append(holds, streamv1alpha1.ImpactHold{By: by})
	}
	return holds
}

// waitsFor returns the held objects that must disappear before a deleted one: its owner, unless the
// dependents are deleted first; its dependents with blockOwnerDeletion, if they are; the content of a
// namespace, and the objects of a kind.
func (s *search) waitsFor(key streamv1alpha1.Key, follows []streamv1alpha1.Key) (by []streamv1alpha1.Key) {
	add := func(other streamv1alpha1.Key) (room bool) {
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
		if !s.step() || s.results[other].step.Type == content && !add(other) {
			break
		}
	}
	return by
}

// waitsForCause reports whether a deleted object disappears only after the cause of its deletion, which
// its step leads to.
func (s *search) waitsForCause(step streamv1alpha1.ImpactStep) bool {
	return s.policy != Foreground && !step.Reversed && step.Type != "" && step.Type != content
}

// waits reports whether the target of a link disappears only after its source.
func (s *search) waits(l *link) bool {
	return s.policy == Foreground && l.Type == v1alpha1.ArcTypeOwnerReference && l.BlockOwnerDeletion && s.deleted(l.From)
}
