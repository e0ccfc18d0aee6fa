package graphview

import (
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
)

// mention makes the lens use the kinds that Options.Own denies. Visible objects refer to them, and
// these references stay, with unknown targets. The coverage changes before the plan drops a watch,
// so that no target counts as missing in between.
func (k *keeper) mention(o *plan.Outline) {
	v := k.view
	if v.engine.o.Own == nil {
		return
	}
	watched := make(map[graph.Kind]bool)
	for n := range o.Needed {
		if n.OfObjects() {
			watched[intake.KindOf(n.Resource)] = true
		}
	}
	k.formerly, k.mentioned = k.mentioned, make(map[graph.Kind]bool)
	unknown := graph.Coverage{Unknown: true}
	for i := range o.Without {
		d := &o.Without[i]
		kind := intake.KindOf(d.Resource)
		if !d.Lacks() || watched[kind] || !slices.Contains(o.Selected, d.Resource) {
			continue
		}
		k.mentioned[kind] = true
		if k.formerly[kind] {
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

// forgetMentioned removes the formerly mentioned kinds from the lens that are neither mentioned nor
// watched any more.
func (k *keeper) forgetMentioned() {
	if len(k.formerly) == 0 {
		return
	}
	v := k.view
	v.engine.writer.Do(func() {
		_, kinds := k.inUse()
		for kind := range k.formerly {
			if !kinds[kind] {
				v.lens.Unuse(kind)
			}
		}
	})
	k.formerly = nil
}
