package graphview

import (
	"context"
	"maps"
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// selectedNamespaces returns the namespaces that the view selects by their content or, without a
// selector, all of them. complete is false while the view waits for them. It then returns the last
// known ones, so that a changed spec removes nothing yet, or nil.
func (s *tapSet) selectedNamespaces(p *spec.Program) (selected map[string]bool, complete bool) {
	t := s.needed[plan.NamespaceNeed(p)]
	if t == nil {
		return s.namespaces, false
	}
	state := t.state()
	t.settled = t.ready(state)
	if !t.settled && state.Err == nil && time.Since(t.acquired) <= s.view.engine.o.SyncTimeout {
		return s.namespaces, false
	}
	s.namespaces = t.selectedNamespaces()
	return s.namespaces, true
}

// judgeFor returns the judge for the objects of a need.
func (s *tapSet) judgeFor(p *spec.Program, n plan.Need) *intake.Judge {
	j := &intake.Judge{Resource: n.Resource, Query: &p.Queries[n.Query], Roots: p.Roots}
	within := s.within[n.Resource]
	switch {
	case p.Namespaces.Selective() && s.blind:
		j.Namespaces = map[string]bool{}
	case p.Namespaces.Selective():
		set, _ := s.selectedNamespaces(p)
		j.Waits = set == nil
		j.Namespaces = set
		if within != nil {
			j.Namespaces = maps.Clone(set)
			maps.DeleteFunc(j.Namespaces, func(name string, _ bool) bool { return !within[name] })
		}
	case within != nil:
		j.Namespaces = within
	case p.Namespaces != nil:
		j.Namespaces = p.Namespaces.Names
	}
	return j
}

// setJudge replaces the judge of a tap, after it has extended the namespaces for which the watch asks the
// tap by those of the judge.
func (s *tapSet) setJudge(t *tap, j *intake.Judge) {
	r := t.need.Resource
	n := s.namespacesOf[r]
	if n == nil {
		n = new(tapNamespaces)
		s.namespacesOf[r] = n
	}
	if t.namespaces == nil {
		t.lease.Feed.Taps().Move(t.Tap, intake.AllNamespaces, &n.Namespaces)
		t.namespaces = n
	}
	n.settled = false
	added, all := n.Extend(j)
	for _, other := range s.all() {
		if other.namespaces != n {
			continue
		}
		if all {
			other.lease.Feed.Taps().Move(other.Tap, &n.Namespaces, intake.AllNamespaces)
		} else {
			other.lease.Feed.Taps().Extend(other.Tap, added)
		}
	}
	if all {
		n.SetAll()
	}
	t.SetJudge(j)
}

// settleNamespaces removes the namespaces that the view no longer selects from the indexes. It waits
// until verdicts of the present judges have replaced those of earlier ones, for all taps of a resource.
func (s *tapSet) settleNamespaces() {
	unsettled := make(map[resources.Resource][]*tap)
	for r, n := range s.namespacesOf {
		if !n.settled {
			unsettled[r] = nil
		}
	}
	if len(unsettled) == 0 {
		return
	}
	for _, t := range s.all() {
		if _, ok := unsettled[t.need.Resource]; ok && t.namespaces != nil {
			unsettled[t.need.Resource] = append(unsettled[t.need.Resource], t)
		}
	}
	for r, taps := range unsettled {
		if len(taps) == 0 {
			delete(s.namespacesOf, r)
			continue
		}
		n := s.namespacesOf[r]
		next, ok := s.admitted(taps)
		if !ok {
			continue
		}
		for _, t := range taps {
			t.lease.Feed.Taps().Move(t.Tap, &n.Namespaces, &next.Namespaces)
		}
		*n = *next
	}
}

// admitted returns the namespaces that the judges of taps may admit. ok is false while one of the taps
// may have selected objects of other namespaces.
func (s *tapSet) admitted(taps []*tap) (n *tapNamespaces, ok bool) {
	n = &tapNamespaces{settled: true}
	for _, t := range taps {
		j := t.Judge()
		if s.needed[t.need] != t || t.needsReplay() || j.Waits {
			return nil, false
		}
		if _, all := n.Extend(j); all {
			n.SetAll()
		}
	}
	return n, true
}

// replayChangedNamespaces replays the objects of namespaces that the view has begun or ceased to select.
func (s *tapSet) replayChangedNamespaces(ctx context.Context, p *spec.Program) {
	for _, t := range s.needed {
		if t.need.OfNamespaces() {
			continue
		}
		old, now := t.Judge(), s.judgeFor(p, t.need)
		if now.Waits || old.Waits == now.Waits && (old.Namespaces == nil) == (now.Namespaces == nil) && maps.Equal(old.Namespaces, now.Namespaces) {
			continue
		}
		s.setJudge(t, now)
		s.replay(ctx, t, func(o *watch.Decoded) bool {
			return old.Waits || old.Admits(o.Namespace()) != now.Admits(o.Namespace())
		})
	}
}
