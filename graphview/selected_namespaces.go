package graphview

import (
	"context"
	"maps"
	"time"

	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// selectedNamespaces are those that the view selects by what they are, or all that
// there are, and whether that is known completely. Until it is, they are those of
// before, so that a spec that changes takes nothing away for as long as it takes to
// look; nil if there are none.
func (k *keeper) selectedNamespaces(p *spec.Program) (selected map[string]bool, complete bool) {
	t := k.taps[plan.NamespaceNeed(p)]
	if t == nil {
		return k.namespaces, false
	}
	r, state := t.role.(*namespaceRole), t.state() //nolint:forcetypeassert // of a need of namespaces
	r.settled = t.ready(state)
	if !r.settled && state.Err == nil && time.Since(t.acquired) <= k.view.engine.o.SyncTimeout {
		return k.namespaces, false
	}
	k.namespaces = r.selected.all()
	return k.namespaces, true
}

// judgeFor is what decides about what a need brings.
func (k *keeper) judgeFor(p *spec.Program, n plan.Need) *judge {
	j := &judge{resource: n.Resource, query: &p.Queries[n.Query], roots: p.Roots}
	within := k.within[n.Resource]
	switch {
	case p.Namespaces.Selective() && k.blind:
		j.namespaces = map[string]bool{}
	case p.Namespaces.Selective():
		set, _ := k.selectedNamespaces(p)
		j.waits = set == nil
		j.namespaces = set
		if within != nil {
			j.namespaces = maps.Clone(set)
			maps.DeleteFunc(j.namespaces, func(name string, _ bool) bool { return !within[name] })
		}
	case within != nil:
		j.namespaces = within
	case p.Namespaces != nil:
		j.namespaces = p.Namespaces.Names
	}
	return j
}

// renamespace shows the view the objects of namespaces that it began or ceased
// to select.
func (k *keeper) renamespace(ctx context.Context, p *spec.Program) {
	for _, t := range k.taps {
		if t.need.OfNamespaces() {
			continue
		}
		old, now := t.judge.Load(), k.judgeFor(p, t.need)
		if now.waits || old.waits == now.waits && (old.namespaces == nil) == (now.namespaces == nil) && maps.Equal(old.namespaces, now.namespaces) {
			continue
		}
		k.install(t, now)
		k.replay(ctx, t, func(o *watch.Decoded) bool {
			return old.waits || old.admits(o.Namespace()) != now.admits(o.Namespace())
		})
	}
}
