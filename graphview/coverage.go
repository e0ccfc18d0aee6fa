package graphview

import (
	"maps"
	"slices"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
)

// coverage has the namespaces that a view watches, by kind. The view's lens needs it to decide whether a
// missing target does not exist or is outside the view. Only the view's goroutine and, while that waits, the
// writer use it.
type coverage struct {
	view *View
	// told is the coverage that was last set in the lens.
	told map[graph.Kind]graph.Coverage
	// denied are the kinds that the lens uses without a watch; see useDenied. previous are the denied
	// kinds of the previous plan.
	denied, previous map[graph.Kind]bool
}

// report sets the coverage of the lens from the taps of the present plan.
func (c *coverage) report(taps map[plan.Need]*tap, o *plan.Outline, rows []v1alpha1.ResourceStatus, index map[resources.Resource]int) {
	now, wide := make(map[graph.Kind]graph.Coverage), make(map[graph.Kind]bool)
	for n, t := range taps {
		if !n.OfObjects() || o.Standby[n] {
			continue
		}
		kind := intake.KindOf(n.Resource)
		of := now[kind]
		j := t.Judge()
		switch {
		case j == nil || hidesSome(j):
			of.Unknown = true
		case n.Key.Namespace == "":
			of.Namespaces, wide[kind] = j.Namespaces, true
		case !wide[kind]:
			if of.Namespaces == nil {
				of.Namespaces = make(map[string]bool)
			}
			if j.Admits(n.Key.Namespace) {
				of.Namespaces[n.Key.Namespace] = true
			}
		}
		of.Selective = j != nil && selective(j)
		now[kind] = of
	}
	for kind := range c.denied {
		if _, watched := now[kind]; !watched {
			now[kind] = graph.Coverage{Unknown: true}
		}
	}
	for r, i := range index {
		if wanted, used := now[intake.KindOf(r)]; used && !rows[i].Synced {
			now[intake.KindOf(r)] = c.unsynced(intake.KindOf(r), wanted, rows[i].Message != "")
		}
	}
	changed := maps.Clone(now)
	maps.DeleteFunc(changed, func(kind graph.Kind, of graph.Coverage) bool {
		known, told := c.told[kind]
		return told && known.Equal(of)
	})
	if len(changed) > 0 {
		c.view.engine.writer.Do(func() {
			for kind, of := range changed {
				c.view.lens.Cover(kind, of)
			}
		})
	}
	c.told = now
}

// unuse removes a kind and its coverage from the lens. The writer calls it.
func (c *coverage) unuse(kind graph.Kind) {
	c.view.lens.Unuse(kind)
	delete(c.told, kind)
}

// unsynced returns the coverage of a kind that is not synced: the wanted one while the view fills for
// the first time. Later, no target counts as missing before the kind has synced.
func (c *coverage) unsynced(kind graph.Kind, wanted graph.Coverage, givenUp bool) graph.Coverage {
	known, told := c.told[kind]
	switch now := c.view.state.Now(); {
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
func (c *coverage) useDenied(o *plan.Outline) {
	v := c.view
	watched := make(map[graph.Kind]bool)
	for n := range o.Needed {
		if n.OfObjects() {
			watched[intake.KindOf(n.Resource)] = true
		}
	}
	c.previous, c.denied = c.denied, make(map[graph.Kind]bool)
	unknown := graph.Coverage{Unknown: true}
	for i := range o.Without {
		d := &o.Without[i]
		kind := intake.KindOf(d.Resource)
		if !d.Lacks() || watched[kind] || !slices.Contains(o.Selected, d.Resource) {
			continue
		}
		c.denied[kind] = true
		if c.previous[kind] {
			continue
		}
		v.engine.writer.Do(func() {
			v.lens.Use(kind, intake.ResourceOf(d.Resource))
			v.lens.Cover(kind, unknown)
		})
		if c.told == nil {
			c.told = make(map[graph.Kind]graph.Coverage)
		}
		c.told[kind] = unknown
	}
}

// unuseDenied removes from the lens the previously denied kinds that are no longer denied or watched.
// The writer calls it.
func (c *coverage) unuseDenied(watched map[graph.Kind]bool) {
	for kind := range c.previous {
		if !watched[kind] && !c.denied[kind] {
			c.unuse(kind)
		}
	}
	c.previous = nil
}
