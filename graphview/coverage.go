package graphview

import (
	"maps"
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
)

// reportCoverage sets the coverage of the lens: the namespaces that the view watches, by kind. The lens
// needs it to decide whether a missing target does not exist or is outside the view.
func (k *keeper) reportCoverage(o *plan.Outline, rows []ResourceStatus, index map[resources.Resource]int) {
	now, wide := make(map[graph.Kind]graph.Coverage), make(map[graph.Kind]bool)
	for n, t := range k.taps {
		if !n.OfObjects() || o.Standby[n] {
			continue
		}
		kind := intake.KindOf(n.Resource)
		c := now[kind]
		j := t.Judge()
		switch {
		case j == nil || hidesSome(j):
			c.Unknown = true
		case n.Key.Namespace == "":
			c.Namespaces, wide[kind] = j.Namespaces, true
		case !wide[kind]:
			if c.Namespaces == nil {
				c.Namespaces = make(map[string]bool)
			}
			if j.Admits(n.Key.Namespace) {
				c.Namespaces[n.Key.Namespace] = true
			}
		}
		c.Selective = j != nil && selective(j)
		now[kind] = c
	}
	for kind := range k.deniedKinds {
		if _, watched := now[kind]; !watched {
			now[kind] = graph.Coverage{Unknown: true}
		}
	}
	for r, i := range index {
		if c, used := now[intake.KindOf(r)]; used && !rows[i].Synced {
			now[intake.KindOf(r)] = k.unsynced(intake.KindOf(r), c, rows[i].Message != "")
		}
	}
	changed := maps.Clone(now)
	maps.DeleteFunc(changed, func(kind graph.Kind, c graph.Coverage) bool {
		known, told := k.covered[kind]
		return told && known.Equal(c)
	})
	if len(changed) > 0 {
		k.view.engine.writer.Do(func() {
			for kind, c := range changed {
				k.view.lens.Cover(kind, c)
			}
		})
	}
	k.covered = now
}

// unuse removes a kind and its coverage from the lens. The writer calls it.
func (k *keeper) unuse(kind graph.Kind) {
	k.view.lens.Unuse(kind)
	delete(k.covered, kind)
}

// unsynced returns the coverage of a kind that is not synced: the wanted one while the view fills for
// the first time. Later, no target counts as missing before the kind has synced.
func (k *keeper) unsynced(kind graph.Kind, wanted graph.Coverage, givenUp bool) graph.Coverage {
	known, told := k.covered[kind]
	switch now := k.view.state.Now(); {
	case givenUp, !told && now.Filled():
		return graph.Coverage{Unknown: true}
	case told:
		return wanted.And(known)
	default:
		return wanted
	}
}

// hidesSome reports whether the watches leave out objects of the selected namespaces.
func hidesSome(j *intake.Judge) bool { return j.Waits || j.Query.Labels != nil || j.Query.Fields != "" }

// selective reports whether the view may leave out objects of its watches.
func selective(j *intake.Judge) bool { return j.Query.Object != nil || j.Query.Parts != nil }

// useDenied makes the lens use the kinds that Options.Own denies, with unknown coverage. So references
// to these kinds stay visible. The coverage changes before the plan drops a watch, so that no target
// counts as missing in between.
func (k *keeper) useDenied(o *plan.Outline) {
	v := k.view
	watched := make(map[graph.Kind]bool)
	for n := range o.Needed {
		if n.OfObjects() {
			watched[intake.KindOf(n.Resource)] = true
		}
	}
	k.previousDenied, k.deniedKinds = k.deniedKinds, make(map[graph.Kind]bool)
	unknown := graph.Coverage{Unknown: true}
	for i := range o.Without {
		d := &o.Without[i]
		kind := intake.KindOf(d.Resource)
		if !d.Lacks() || watched[kind] || !slices.Contains(o.Selected, d.Resource) {
			continue
		}
		k.deniedKinds[kind] = true
		if k.previousDenied[kind] {
			continue
		}
		v.engine.writer.Do(func() {
			v.lens.Use(kind, intake.ResourceOf(d.Resource))
			v.lens.Cover(kind, unknown)
		})
		if k.covered == nil {
			k.covered = make(map[graph.Kind]graph.Coverage)
		}
		k.covered[kind] = unknown
	}
}

// unuseDenied removes from the lens the previously denied kinds that are no longer denied or
// watched.
func (k *keeper) unuseDenied() {
	if len(k.previousDenied) == 0 {
		return
	}
	v := k.view
	v.engine.writer.Do(func() {
		_, kinds := k.inUse()
		for kind := range k.previousDenied {
			if !kinds[kind] {
				k.unuse(kind)
			}
		}
	})
	k.previousDenied = nil
}
