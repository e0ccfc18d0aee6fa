package plan

import "graphview.dev/graphview/watch"

// WatchStatus is the state of a watch that the view has leased.
type WatchStatus struct {
	Key   watch.Key
	State watch.State
	// Complete: the view has all objects of the watch. Late: the view has waited for the watch
	// for too long.
	Complete, Late bool
}

// placeSingle places a resource with the form single. A shared watch without a label selector has
// precedence over one with it, because it serves more views.
func (p *planner) placeSingle(of *claim) placement {
	at := placement{namespaces: of.namespaces}
	if len(of.namespaces) == 0 {
		return at
	}
	for _, key := range [...]watch.Key{of.plain(), of.wide} {
		share, ok := p.shared[key]
		switch {
		case !ok:
			continue
		case p.usesShared(of, key, share.Crowded):
			at.namespaces, at.wide = nil, &key
		default:
			at.probe = &key
		}
		break
	}
	return at
}

// usesShared decides whether the view uses a shared watch: once the watch has synced, or
// immediately if the view has no other watch of the resource.
func (p *planner) usesShared(of *claim, key watch.Key, crowded bool) bool {
	var shared *WatchStatus
	waits := true // whether the view uses the watch before it has synced
	for _, has := range p.s.Watches[of.selected.Resource] {
		switch {
		case has.Key.Reduced != key.Reduced:
		case has.Key == key:
			shared = &has
		default:
			waits = false
		}
	}
	switch {
	case p.s.Refused[of.selected.Resource]:
		return false
	case shared == nil:
		return waits
	case shared.State.Synced:
		return true
	case shared.State.Reason == watch.Forbidden && !shared.Complete:
		return false
	case shared.State.Reason == watch.Forbidden, crowded:
		// Forbidden: keep the objects for the few seconds until the operator counts as refused.
		// Crowded: a watch of each namespace is no alternative.
		return waits
	case shared.State.Err != nil, shared.Late:
		return false
	default:
		return waits
	}
}
