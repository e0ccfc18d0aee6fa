package plan

import "graphview.dev/graphview/watch"

// WatchStatus is the state of a watch that the view has leased.
type WatchStatus struct {
	Key   watch.Key
	State watch.State
	// Complete: the view has all objects of the watch. Late: the view has waited for the watch
	// for too long.
	Complete, Late bool
	// Retains: the view had all objects of the watch at some time, and has not dropped them.
	Retains bool
}

// shareState is the relation of a view to a shared watch. See the package documentation.
type shareState int

const (
	// unshared: the view keeps its watches of single namespaces.
	unshared shareState = iota
	// onOtherWatch: the view keeps a shared watch of the other extent.
	onOtherWatch
	// onSharedWatch: the view uses the shared watch.
	onSharedWatch
)

// toggledPartial returns the key of the watch of all namespaces with the other extent. One of the two
// watches retains all objects, the other the objects of some namespaces.
func toggledPartial(key watch.Key) watch.Key {
	key.Partial = !key.Partial
	return key
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
		if !ok {
			continue
		}
		key.Partial = share.Partial
		other := toggledPartial(key)
		switch state := p.shareStateOf(of, key, share.Crowded); {
		case state == onOtherWatch:
			at.namespaces, at.wide, at.probe = nil, &other, &key
		case state == onSharedWatch && !p.lacksAll(of, key):
			at.namespaces, at.wide = nil, &key
		default:
			at.probe = &key
		}
		break
	}
	return at
}

// placeSeveral places a resource with the form several. The watch of all namespaces is partial
// unless another view needs everything.
func (p *planner) placeSeveral(of *claim) placement {
	key := of.wide
	share, shared := p.shared[key]
	key.Partial = !shared || share.Partial
	// crowded is true because the view has too many namespaces for the state unshared.
	if p.shareStateOf(of, key, true) == onOtherWatch {
		other := toggledPartial(key)
		return placement{wide: &other, probe: &key}
	}
	return placement{wide: &key}
}

// lacks returns the claim's namespaces that the view watches one by one because a partial
// watch does not have them. complete reports whether the partial watch has all others. own is
// the key of the single watches, without their namespace.
func (p *planner) lacks(of *claim, key, own watch.Key) (apart []string, complete bool) {
	if !key.Partial {
		return nil, true
	}
	var listed map[string]bool // nil while the watch has not synced
	watched := make(map[string]bool)
	for _, has := range p.current[of.selected.Resource] {
		namespace := has.Key.Namespace
		has.Key.Namespace = ""
		switch {
		case namespace != "":
			watched[namespace] = watched[namespace] || has.Key == own
		case has.Key == key && has.State.Synced:
			listed = has.State.Namespaces
		}
	}
	share := p.shared[Need{Key: key}.DemandKey()]
	var further []string
	complete = true
	for _, namespace := range of.namespaces {
		switch {
		case listed[namespace]:
		case watched[namespace]:
			apart = append(apart, namespace)
		case share.Relists || share.Listed[namespace] || listed == nil && share.Listed == nil:
			complete = false // a list that has begun or was requested has it
		default:
			further = append(further, namespace)
		}
	}
	if len(apart)+len(further) > p.each {
		return apart, false // the view waits for the next list
	}
	return append(apart, further...), complete
}

// lacksAll reports whether the view watches all of the claim's namespaces one by one because
// a partial watch has none of them.
func (p *planner) lacksAll(of *claim, key watch.Key) bool {
	apart, _ := p.lacks(of, key, of.wide)
	return len(apart) == len(of.namespaces)
}

// refusedProbe returns the watch of all namespaces that the operator tries after a refusal. It is the
// refused watch itself, because its state Forbidden is the reason for the form refusedSingle.
func (p *planner) refusedProbe(of *claim) *watch.Key {
	if !p.namesNamespaces() {
		return &of.wide
	}
	tried := toggledPartial(of.wide)
	for _, has := range p.current[of.selected.Resource] {
		if has.Key == of.wide && has.State.Reason == watch.Forbidden {
			tried = of.wide
		}
	}
	return &tried
}

// shareStateOf decides whether the view uses a shared watch: once the watch has synced, or
// immediately if the view has no other watch of the resource.
func (p *planner) shareStateOf(of *claim, key watch.Key, crowded bool) shareState {
	var shared *WatchStatus
	// fallback is the state without the shared watch, waiting is the state until it has synced.
	fallback, waiting := unshared, onSharedWatch
	for _, has := range p.current[of.selected.Resource] {
		switch {
		case has.Key.Reduced != key.Reduced:
		case has.Key == key:
			shared = &has
		case has.Key != toggledPartial(key):
			waiting = unshared
		case has.Retains:
			fallback = onOtherWatch
		}
	}
	if fallback == onOtherWatch {
		waiting = fallback
	}
	switch {
	case p.s.Refused[of.selected.Resource]:
		return unshared
	case shared == nil:
		return waiting
	case shared.State.Synced:
		return onSharedWatch
	case shared.State.Reason == watch.Forbidden && !shared.Complete:
		return fallback
	case shared.State.Reason == watch.Forbidden, crowded:
		// Forbidden: keep the objects for the few seconds until the operator counts as refused.
		// Crowded: a watch of each namespace is no alternative.
		return waiting
	case shared.State.Err != nil, shared.Late:
		return fallback
	default:
		return waiting
	}
}
