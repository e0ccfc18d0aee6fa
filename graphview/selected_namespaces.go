package graphview

import (
	"context"
	"maps"
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// selectedNamespaces returns the namespaces that the view selects by their content, or all of them.
// While they are not known completely, it returns the ones before, so that a changed spec removes
// nothing in the meantime, or nil.
func (k *keeper) selectedNamespaces(p *spec.Program) (selected map[string]bool, complete bool) {
	t := k.taps[plan.NamespaceNeed(p)]
	if t == nil {
		return k.namespaces, false
	}
	state := t.state()
	t.settled = t.ready(state)
	if !t.settled && state.Err == nil && time.Since(t.acquired) <= k.view.engine.o.SyncTimeout {
		return k.namespaces, false
	}
	k.namespaces = t.selectedNamespaces()
	return k.namespaces, true
}

// judgeFor returns the judge of the objects that a need brings.
func (k *keeper) judgeFor(p *spec.Program, n plan.Need) *intake.Judge {
	j := &intake.Judge{Resource: n.Resource, Query: &p.Queries[n.Query], Roots: p.Roots}
	within := k.within[n.Resource]
	switch {
	case p.Namespaces.Selective() && k.blind:
		j.Namespaces = map[string]bool{}
	case p.Namespaces.Selective():
		set, _ := k.selectedNamespaces(p)
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

// renamespace replays the objects of namespaces that the view began or ceased to select.
func (k *keeper) renamespace(ctx context.Context, p *spec.Program) {
	for _, t := range k.taps {
		if t.need.OfNamespaces() {
			continue
		}
		old, now := t.Judge(), k.judgeFor(p, t.need)
		if now.Waits || old.Waits == now.Waits && (old.Namespaces == nil) == (now.Namespaces == nil) && maps.Equal(old.Namespaces, now.Namespaces) {
			continue
		}
		k.install(t, now)
		k.replay(ctx, t, func(o *watch.Decoded) bool {
			return old.Waits || old.Admits(o.Namespace()) != now.Admits(o.Namespace())
		})
	}
}
