package graphview

import (
	"context"
	"maps"
	"time"

	"graphview.dev/graphview/watch"
)

// selectedNamespaces are those that the view selects by what they are, and
// whether these are all. Until they are, they are those that it selected before,
// so that a spec that changes takes nothing away for as long as it takes to look;
// nil if there are none.
func (v *View) selectedNamespaces(p *Program) (selected map[string]bool, known bool) {
	if v.blind {
		return map[string]bool{}, true
	}
	t := v.taps[namespaceNeed(p)]
	if t == nil {
		return v.scope, false
	}
	state := t.state()
	t.settled = t.ready(state)
	if !t.settled && state.Err == nil && time.Since(t.acquired) <= v.engine.o.SyncTimeout {
		return v.scope, false
	}
	v.scope = t.selected.all()
	return v.scope, true
}

// judgeFor is what decides about what a need brings.
func (v *View) judgeFor(p *Program, n need) *judge {
	j := &judge{resource: n.resource, query: &p.queries[n.query], roots: p.roots}
	within := v.within[n.resource]
	switch {
	case p.namespaces.selective():
		set, _ := v.selectedNamespaces(p)
		j.waits = set == nil
		j.namespaces = set
		if within != nil {
			j.namespaces = maps.Clone(set)
			maps.DeleteFunc(j.namespaces, func(name string, _ bool) bool { return !within[name] })
		}
	case within != nil:
		j.namespaces = within
	case p.namespaces != nil:
		j.namespaces = p.namespaces.names
	}
	return j
}

// renamespace shows the view the objects of namespaces that it began or ceased
// to select.
func (v *View) renamespace(ctx context.Context, p *Program) {
	for _, t := range v.taps {
		if t.namespaces != nil {
			continue
		}
		old, now := t.judge.Load(), v.judgeFor(p, t.need)
		if now.waits || old.waits == now.waits && (old.namespaces == nil) == (now.namespaces == nil) && maps.Equal(old.namespaces, now.namespaces) {
			continue
		}
		t.judge.Store(now)
		v.replayAgain(ctx, t, func(o *watch.Decoded) bool {
			return old.waits || old.admits(o.Namespace()) != now.admits(o.Namespace())
		})
	}
}
