package delivery

import (
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
)

// add adds an object of the question.
func (s *changeSearch) add(key graph.Key, via *Via) bool {
	if _, known := s.ledTo[key]; known {
		return false
	}
	if len(s.ledTo) > maxLedTo {
		s.answer.TooMany = true
		return false
	}
	s.ledTo[key] = via
	s.hashes[history.Hash(&key)] = true
	return true
}

// step is the step from a neighbour to an object.
func (s *changeSearch) step(neighbour graph.Key, words []string, up bool) *Via {
	return &Via{Neighbour: neighbour, Kind: s.past.kindOf(neighbour.Resource).Kind, Words: words, Up: up, Depth: s.depth(neighbour) + 1}
}

// depth is the number of arcs from the object of the question to another one of its objects.
func (s *changeSearch) depth(of graph.Key) int {
	if via := s.ledTo[of]; via != nil {
		return via.Depth
	}
	return 0
}

// walk adds the objects that an object leads to: its references and the objects that it owns, and so on.
// It also adds the owners of the object, and nothing else that they lead to.
func (s *changeSearch) walk(from graph.Key) {
	how := graph.Reading{Allow: s.gate.allow()}
	for queue := []graph.Key{from}; len(queue) > 0 && s.ctx.Err() == nil; queue = queue[1:] {
		at := queue[0]
		seen, ok := s.past.lens.Look(at, maxArcs, how)
		if !ok {
			continue
		}
		for i := range seen.Out {
			if c := &seen.Out[i]; c.Type != graph.OwnerReference && s.add(c.To, s.step(at, wordsOf(nil, c), false)) && !c.Missing {
				queue = append(queue, c.To)
			}
		}
		for i := range seen.In {
			if c := &seen.In[i]; c.Type == graph.OwnerReference && s.add(c.Vertex, s.step(at, wordsOf(nil, c), true)) {
				queue = append(queue, c.Vertex)
			}
		}
	}
	at := from
	for range graph.MaxDepth - 1 {
		owner := s.controller(at)
		if owner == nil || !s.add(owner.To, s.step(at, nil, false)) {
			return
		}
		at = owner.To
	}
}

// controller returns the arc to the controller of an object that the view shows, nil if there is none.
func (s *changeSearch) controller(of graph.Key) *graph.Change {
	if c, known := s.controllers[of]; known {
		return c
	}
	var found *graph.Change
	if seen, ok := s.past.lens.Look(of, 64, graph.Reading{Allow: s.gate.allow()}); ok {
		if i := slices.IndexFunc(seen.Out, func(c graph.Change) bool { return c.Type == graph.OwnerReference && c.Controller }); i >= 0 {
			found = &seen.Out[i]
		}
	}
	s.controllers[of] = found
	return found
}

// lead adds the objects to which an object of the question led before a change.
func (s *changeSearch) lead(e *history.Entry) (added []graph.Key) {
	if _, concerned := s.ledTo[e.Object]; !concerned {
		return nil
	}
	for i := range e.Arcs {
		a := &e.Arcs[i]
		if !a.Before.Exists || a.Implied || a.Type == graph.OwnerReference {
			continue
		}
		key, at := s.past.glance(a.To, a.Namespace, a.Name)
		if s.sees(key, &at, &a.Before) && s.add(key, &Via{Neighbour: e.Object, Kind: e.Kind, Words: words(e.Object, key, a.Before.Fields), Depth: s.depth(e.Object) + 1}) {
			added = append(added, key)
		}
	}
	return added
}

// words returns the words of an arc.
func words(from, to graph.Key, fields []string) []string {
	return wordsOf(nil, &graph.Change{Vertex: from, To: to, Fields: fields})
}
