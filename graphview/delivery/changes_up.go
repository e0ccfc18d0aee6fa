package delivery

import (
	"cmp"
	"slices"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/wording"
)

// limits is the word for a quota and the objects of its namespace. They have no arc.
const limits = "limits"

// isLimit reports whether the objects of a resource limit others of their namespace.
func isLimit(r graph.Resource) bool {
	return r.Group == "" && (r.Resource == "resourcequotas" || r.Resource == "limitranges")
}

// isLimited reports whether the objects of a resource count for a quota of pods or of storage.
func isLimited(r graph.Resource) bool {
	return r.Group == "apps" || r.Group == "batch" || r.Group == "" && (r.Resource == "pods" || r.Resource == "persistentvolumeclaims")
}

// actors adds the objects that act on the found objects, such as a NetworkPolicy on a pod, and the means of each, such as
// the role of a binding. Other objects that refer to the found ones do not matter to these.
func (s *changeSearch) actors() {
	found := make([]graph.Key, 0, len(s.ledTo))
	for key := range s.ledTo {
		found = append(found, key)
	}
	slices.SortFunc(found, func(a, b graph.Key) int { // the shortest path to an actor counts, and of equal ones the first
		return cmp.Or(s.depth(a)-s.depth(b), cmp.Compare(a.Resource.Resource, b.Resource.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	how := graph.Reading{Allow: s.gate.allow()}
	for _, at := range found {
		if s.ctx.Err() != nil {
			return
		}
		seen, ok := s.past.lens.Look(at, maxArcs, how)
		if !ok {
			continue
		}
		for i := range seen.In {
			c := &seen.In[i]
			if words := wordsOf(nil, c); slices.ContainsFunc(words, wording.Acts) && s.add(c.Vertex, s.step(at, words, true)) {
				s.means(c.Vertex, how)
			}
		}
	}
	if slices.ContainsFunc(found, func(key graph.Key) bool { return key.Namespace == s.Object.Namespace && isLimited(key.Resource) }) {
		s.quotas()
	}
}

// means adds the objects that an actor acts with: the targets of its references, without the objects that it acts on.
func (s *changeSearch) means(actor graph.Key, how graph.Reading) {
	seen, _ := s.past.lens.Look(actor, maxArcs, how)
	for i := range seen.Out {
		c := &seen.Out[i]
		if words := wordsOf(nil, c); c.Type != graph.OwnerReference && !slices.ContainsFunc(words, wording.Acts) {
			s.add(c.To, s.step(actor, words, false))
		}
	}
}

// quotas adds the quotas and limits of the namespace of the question.
func (s *changeSearch) quotas() {
	var pos graph.Position
	namespace := s.Object.Namespace
	how := graph.Reading{Allow: func(r graph.Resource, in string) bool {
		return in == namespace && isLimit(r) && s.gate.allows(access.Place{Resource: r.Resource, Namespace: in})
	}}
	for done := false; !done && s.ctx.Err() == nil; {
		var err error
		if done, err = s.past.lens.Read(&pos, 4096, how, func(c graph.Change) bool {
			if c.Op == graph.SetVertex {
				s.add(c.Vertex, s.step(*s.answer.Object, []string{limits}, true))
			}
			return true
		}); err != nil {
			return // the lens was emptied meanwhile: its quotas are those of another moment
		}
	}
}

// actedOn returns the last step to an object that was removed and acted on an object of the question, nil if it did not.
func (s *changeSearch) actedOn(e *history.Entry) *Via {
	if e.Op != history.Removed {
		return nil
	}
	if isLimit(e.Object.Resource) && e.Object.Namespace == s.Object.Namespace {
		return s.step(*s.answer.Object, []string{limits}, true)
	}
	for i := range e.Arcs {
		a := &e.Arcs[i]
		key, _ := s.past.glance(a.To, a.Namespace, a.Name)
		if _, known := s.ledTo[key]; !known || !a.Before.Exists {
			continue
		}
		if words := words(e.Object, key, a.Before.Fields); slices.ContainsFunc(words, wording.Acts) {
			return s.step(key, words, true)
		}
	}
	return nil
}
