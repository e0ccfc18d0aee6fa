package delivery

import (
	"cmp"
	"slices"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
)

// foldKey is equal for changes that become one.
type foldKey struct {
	object        graph.Key
	before, after string
	path          string
	paths         int
}

// sees reports whether the subscriber may see where an arc leads or led.
func (s *changeSearch) sees(key graph.Key, at *graph.Glance, side *graph.ArcSide) bool {
	return at.Used && (at.Shown || side.Named) && (side.Named || side.Selected || side.Inferred && !at.ExcludesInferred) && s.gate.allowsObject(key)
}

// take adds an entry to the answer if it is part of it, and reports whether it is and whether the answer is full.
func (s *changeSearch) take(e *history.Entry) (taken, full bool) {
	via, concerned := s.ledTo[e.Object]
	if s.Object != nil && !concerned && (s.Alone || e.Op != history.Removed) {
		return false, false
	}
	controller, kind := s.controllerBefore(e)
	if s.Object != nil && !concerned {
		via = s.actedOn(e)
		if controller != nil {
			if _, known := s.ledTo[*controller]; known {
				via = s.step(*controller, nil, true)
			}
		}
		if via == nil {
			return false, false
		}
	}
	if !s.permits(e) || !concerned && s.Object != nil && !s.add(e.Object, via) {
		return false, false
	}
	shown := *e
	shown.Summary, shown.Arcs = "", nil
	c := &Changed{Entry: &shown, Times: 1, First: e.At, Via: via, Controller: controller, ControllerKind: kind}
	if s.findTargets(c, e); !shownAlone(e) && len(c.targets) == 0 {
		return true, false
	}
	key, folds := foldOf(e)
	if folds {
		if series := s.folds[key]; series != nil && series.First-e.At <= foldWithin.Microseconds() {
			series.Times++
			series.First = e.At
			return true, false
		}
	}
	if s.made >= s.Limit {
		return true, true
	}
	if folds {
		s.folds[key] = c
	}
	s.made += max(len(c.targets), 1)
	s.answer.Changes = append(s.answer.Changes, c)
	return true, false
}

// findTargets adds the changed arcs of an entry to a change, and where they lead. It stops beyond the limit of the answer.
func (s *changeSearch) findTargets(c *Changed, e *history.Entry) {
	if e.Op != history.Changed {
		return
	}
	var targets []*Target
	for i := range e.Arcs {
		a := &e.Arcs[i]
		if a.Implied || a.Before.Exists == a.After.Exists {
			continue
		}
		key, at := s.past.glance(a.To, a.Namespace, a.Name)
		side := &a.After
		if a.Before.Exists {
			side = &a.Before
		}
		if !s.sees(key, &at, side) {
			continue
		}
		arc := graph.Change{Vertex: e.Object, To: key, Fields: side.Fields}
		targets = append(targets, &Target{Key: key, Fields: pathsOf(nil, &arc), Words: wordsOf(nil, &arc), Missing: !at.Shown && at.Outside == graph.Nowhere})
		if c.Arcs = append(c.Arcs, *a); len(targets) > s.Limit {
			break
		}
	}
	if len(targets) > 0 {
		c.targets = make(map[*history.Arc]*Target, len(targets))
	}
	for i, target := range targets {
		c.targets[&c.Arcs[i]] = target
	}
}

// foldOf returns the key of the series that an entry belongs to, and whether it may belong to one.
func foldOf(e *history.Entry) (foldKey, bool) {
	k := foldKey{object: e.Object, paths: len(e.Paths)}
	before, after := e.Before.Unpack(), e.After.Unpack()
	k.before, k.after = string(before.State)+" "+before.Reason, string(after.State)+" "+after.Reason
	for _, p := range e.Paths {
		k.path += p.Path + "\n" + p.Before + "\n" + p.After + "\n"
	}
	return k, e.Op == history.Changed && e.From == 0 && !slices.ContainsFunc(e.Arcs, func(a history.Arc) bool { return !a.Implied })
}

// shownAlone reports whether an entry is a change for people without its arcs. Others are kept to undo them, such
// as the counts of a health.
func shownAlone(e *history.Entry) bool {
	return e.Op != history.Changed || len(e.Paths) > 0 || !e.Before.SameWord(e.After)
}

// controllerBefore returns the controller of an object when it changed, or that of now.
func (s *changeSearch) controllerBefore(e *history.Entry) (*graph.Key, string) {
	for i := range e.Arcs {
		a := &e.Arcs[i]
		if a.Type != graph.OwnerReference || !a.Before.Controller {
			continue
		}
		if key, at := s.past.glance(a.To, a.Namespace, a.Name); at.Used && s.gate.allowsObject(key) {
			return &key, a.To.Kind
		}
	}
	if e.Op == history.Removed {
		return nil, ""
	}
	if c := s.controller(e.Object); c != nil {
		return &c.To, s.past.kindOf(c.To.Resource).Kind
	}
	return nil, ""
}

// permits reports whether the subscriber gets an entry: the view shows the object now, or showed it when it was
// deleted, and the subscriber may see it now.
func (s *changeSearch) permits(e *history.Entry) bool {
	key := e.Object
	foreign := key.Namespace != "" && s.Foreign(key.Namespace, cmp.Or(e.From, e.At))
	if may, known := s.may[key]; known && !foreign {
		return may
	}
	may := false
	at := s.past.lens.Glance(s.past.kindOf(key.Resource), key.Namespace, key.Name)
	switch {
	case !at.Used || at.Resource != key.Resource:
	case foreign:
		may = s.gate.allows(access.Place{Group: key.Group, Resource: key.Resource.Resource}) && (at.Shown || s.past.whole || slices.Contains(e.Views, s.Mark))
		if !may {
			return false
		}
	case at.Shown:
		may = s.gate.allowsObject(key)
	case s.past.whole && at.Outside == graph.Nowhere, e.Op == history.Removed && s.Mark != 0 && slices.Contains(e.Views, s.Mark):
		may = s.gate.allowsObject(key)
	}
	s.may[key] = may
	return may
}
