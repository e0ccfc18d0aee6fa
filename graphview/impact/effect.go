package impact

import (
	"slices"
	"strings"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
)

// affect judges the objects that refer to deleted ones, and then the objects that refer to broken ones.
func (s *search) affect() {
	for _, key := range s.order {
		for l := range s.each(s.in[key]) {
			if l.Type != v1alpha1.ArcTypeOwnerReference && !l.Missing {
				s.raise(l.From, key, s.effect(l), stepOf(l, false))
			}
		}
		s.unbind(key)
		s.revoke(key)
	}
	judged := map[streamv1alpha1.Key]bool{} // the selecting objects; all their targets would give the same result
	for _, key := range s.order {
		for l := range s.each(s.in[key]) {
			if l.says("selects") && !l.Missing && !judged[l.From] {
				judged[l.From] = true
				if s.selectsNothing(l.From) {
					s.raise(l.From, key, BreaksNow, stepOf(l, false))
				}
			}
		}
	}
	for len(s.broken) > 0 && s.step() {
		key := s.broken[0]
		s.broken = s.broken[1:]
		for l := range s.each(s.in[key]) {
			if !l.Missing && propagates(l) {
				s.raise(l.From, key, l.limit(BreaksNow), stepOf(l, false))
			}
		}
		s.unbind(key)
	}
}

// raise gives an object a verdict, unless it already has this verdict or a worse one.
func (s *search) raise(key, cause streamv1alpha1.Key, v Verdict, step streamv1alpha1.ImpactStep) {
	if _, there := s.objects[key]; !there {
		return
	}
	if f := s.results[key]; f != nil && f.verdict >= v {
		return
	}
	step.From, step.To = key, cause
	s.results[key] = &result{verdict: v, step: step, depth: s.results[cause].depth + 1}
	if v == BreaksNow {
		s.broken = append(s.broken, key)
	}
}

// unbind takes the permissions of a binding from its subjects.
func (s *search) unbind(key streamv1alpha1.Key) {
	if key.Group != "rbac.authorization.k8s.io" || !strings.HasSuffix(key.Resource, "bindings") {
		return
	}
	for l := range s.each(s.out[key]) {
		if l.says("binds") && !l.Missing {
			s.raise(l.To, key, BreaksNow, stepOf(l, true))
		}
	}
}

// selectsNothing reports whether a Service or an Istio Gateway no longer selects any object.
func (s *search) selectsNothing(key streamv1alpha1.Key) bool {
	if !is(key, "", "services") && !is(key, "networking.istio.io", "gateways") {
		return false
	}
	for l := range s.each(s.out[key]) {
		if l.says("selects") && !l.Missing && !s.deleted(l.To) {
			return false
		}
	}
	return true
}

// propagates reports whether a reference to a broken object, which still exists, breaks its source.
func propagates(l *link) bool {
	switch {
	case is(l.To, "", "services"):
		return l.says("routes to") || l.says("calls")
	case is(l.To, "", "persistentvolumeclaims"):
		return is(l.From, "", "pods") && l.says("mounts")
	case is(l.To, "", "serviceaccounts"):
		return l.says("runs as")
	case l.To.Group == "rbac.authorization.k8s.io":
		return l.says("grants") || l.says("aggregates")
	case strings.HasSuffix(l.To.Resource, "gateways"):
		return l.says("attaches to")
	default:
		return false
	}
}

// effect returns the verdict on the source of a reference whose target is deleted.
func (s *search) effect(l *link) Verdict {
	worst := Unaffected
	if s.objects[l.From].Facts.Ended {
		return worst // it is not started again
	}
	for _, word := range l.Words {
		worst = max(worst, s.effectOf(word, l))
	}
	return l.limit(worst)
}

// limit returns the verdict on the source of a reference, by the facts about it. A pull Secret is optional
// while its pods run, and may be needed to start them.
func (l *link) limit(v Verdict) Verdict {
	switch {
	case v == Unaffected:
		return v
	case l.Inferred(), l.Optional && l.says("calls"): // an address does not say whether the object does without the Service
		return ProbablyBreaks
	case l.Optional && !l.says("pulls images with"):
		return LosesOptional
	}
	return v
}

// revoke breaks the references to another namespace that only a deleted ReferenceGrant allowed.
func (s *search) revoke(key streamv1alpha1.Key) {
	granted := s.objects[key].Facts.Grants
	if len(granted) == 0 {
		return
	}
	var left []streamv1alpha1.Grant // of the other ReferenceGrants in the namespace
	for other, o := range s.objects {
		if other.Namespace == key.Namespace && !s.deleted(other) {
			left = append(left, o.Facts.Grants...)
		}
	}
	allowed := func(grants []streamv1alpha1.Grant, l *link) bool {
		return slices.ContainsFunc(grants, func(g streamv1alpha1.Grant) bool { return s.allows(g, key.Namespace, l) })
	}
	var stopped []streamv1alpha1.Key
	for from := range s.objects {
		for l := range s.each(s.out[from]) {
			if l.Type != v1alpha1.ArcTypeOwnerReference && !l.Missing && allowed(granted, l) && !allowed(left, l) {
				stopped = append(stopped, from)
				break
			}
		}
	}
	slices.SortFunc(stopped, streamv1alpha1.Key.Compare)
	for _, from := range stopped {
		s.raise(from, key, BreaksNow, streamv1alpha1.ImpactStep{Type: v1alpha1.ArcTypeReference, Words: []string{"is allowed by"}})
	}
}

// allows reports whether a grant in a namespace allows a reference.
func (s *search) allows(grant streamv1alpha1.Grant, namespace string, l *link) bool {
	return l.To.Namespace == namespace && l.From.Namespace == grant.Namespace && l.From.Group == grant.FromGroup && s.objects[l.From].Kind == grant.FromKind &&
		l.To.Group == grant.ToGroup && s.objects[l.To].Kind == grant.ToKind && (grant.ToName == "" || grant.ToName == l.To.Name)
}

func (s *search) effectOf(word string, l *link) Verdict {
	from, to := l.From, l.To
	switch word {
	case "runs as":
		if is(from, "", "pods") {
			return BreaksNow // its token is not valid any more
		}
	case "is of class", "is filled from":
		switch {
		case is(from, "networking.k8s.io", "ingresses"), is(from, "gateway.networking.k8s.io", "gateways"):
			return BreaksNow
		case is(from, "", "persistentvolumeclaims") && s.bound(from), is(from, "", "persistentvolumes"):
			return Unaffected
		}
	case "is bound to":
		if is(to, "", "persistentvolumes") {
			return BreaksNow
		}
		return Unaffected
	case "claims":
		if is(to, "", "persistentvolumeclaims") {
			return LosesOptional // a StatefulSet makes a new, empty claim
		}
	case "uses":
		// The label of an installer names the origin of an object.
		if slices.ContainsFunc(l.Fields, func(field string) bool { return strings.Contains(field, "toolkit.fluxcd.io/name'") }) {
			return Unaffected
		}
	case "attaches to":
		if is(from, "storage.k8s.io", "volumeattachments") {
			return Unaffected
		}
	}
	if v, ok := effects[word]; ok {
		return v
	}
	return CannotStart
}

// bound reports whether a claim is bound to a volume.
func (s *search) bound(claim streamv1alpha1.Key) bool {
	for l := range s.each(s.out[claim]) {
		if l.says("is bound to") && is(l.To, "", "persistentvolumes") {
			return true
		}
	}
	return false
}

// effects has the verdicts by the word of a reference. For other words, the verdict is CannotStart.
var effects = map[string]Verdict{
	"routes to": BreaksNow, "calls": BreaksNow, "is named by": BreaksNow, "serves with": BreaksNow,
	"authenticates with": BreaksNow, "attaches to": BreaksNow,
	"grants": BreaksNow, "aggregates": BreaksNow, "acts as": BreaksNow, "scales": BreaksNow, "is in": BreaksNow,
	"selects": Unaffected, "protects": Unaffected, "restricts": Unaffected, "allows": Unaffected, "measures": Unaffected,
	"is about": Unaffected, "leads to": Unaffected, "is on": Unaffected, "belongs to": Unaffected, "permits": Unaffected,
	"binds": Unaffected, "installs": Unaffected, "issues": Unaffected, "runs": Unaffected, "runs on": Unaffected,
	"is a token of": Unaffected, "applies to": Unaffected,
}
