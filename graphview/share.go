package graphview

import (
	"time"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/sharing"
	"graphview.dev/graphview/watch"
)

// watchStatus is a watch that the view takes from.
type watchStatus struct {
	key   watch.Key
	state watch.State
	// complete: the view has had all that there was. late: it has waited for that
	// longer than one should.
	complete, late bool
	// retains: it has had all that there was at some time, and retains that.
	retains bool
}

// lateAfter is how long a view waits for a shared watch to have all there is before
// it watches what it needs by itself meanwhile.
const lateAfter = 10 * time.Second

// shareState is how a view takes to a watch of all namespaces that views share.
type shareState int

const (
	// unshared: it watches single namespaces, and is about to move. Nothing is
	// given up before the other has all there is.
	unshared shareState = iota
	// onOtherWatch: likewise, but it takes from a shared watch of another extent.
	onOtherWatch
	// onSharedWatch: it takes everything from the shared watch.
	onSharedWatch
)

// toggledPartial is the key of the watch of all namespaces that retains everything where
// this one does not, and the other way round.
func toggledPartial(key watch.Key) watch.Key {
	key.Partial = !key.Partial
	return key
}

// placeShared has a resource that the view would watch in single namespaces taken from a
// watch of all namespaces, where views share one. One without label selectors is
// had by more views, so it comes first.
func (p *planner) placeShared(r resources.Resource, wide watch.Key, at placement) placement {
	if len(at.namespaces) == 0 {
		return at
	}
	plain := wide
	plain.LabelSelector = ""
	p.demands[plain] = sharing.Demand{}
	p.demands[wide] = sharing.Demand{Parts: at.namespaces}
	within := at.namespaces
	for _, key := range [...]watch.Key{plain, wide} {
		share, ok := p.shared[key]
		if !ok {
			continue
		}
		key.Partial = share.Partial
		switch p.shareStateOf(r, key, share.Crowded) {
		case unshared:
			at.probe = &key
		case onOtherWatch:
			other := toggledPartial(key)
			at.namespaces, at.shared, at.probe = []string{""}, &other, &key
		case onSharedWatch:
			at.namespaces, at.shared = []string{""}, &key
		}
		if named := p.program.Namespaces.Named(); len(within) != len(named) {
			// Less than what the spec names, which is what judges go by else.
			at.within = setOfNames(within)
		}
		break
	}
	return at
}

// placeClusterWide has a resource taken from a watch of all namespaces. Where the spec names the
// namespaces, that watch retains only what is wanted, unless views share one that retains
// everything. Namespaces that are selected by what they are come and go by themselves, and
// each that comes would have to be listed, for each resource of the view.
func (p *planner) placeClusterWide(r resources.Resource, wide watch.Key, at placement) placement {
	at.namespaces = []string{""}
	if !p.namesNamespaces() {
		p.demands[wide] = sharing.Demand{Wide: true}
		return at
	}
	p.demands[wide] = sharing.Demand{Partly: true}
	key := wide
	share, shared := p.shared[wide]
	key.Partial = !shared || share.Partial
	at.shared = &key
	// It has no watches of its own to stand by, and would not have so many.
	if p.shareStateOf(r, key, true) == onOtherWatch {
		other := toggledPartial(key)
		at.shared, at.probe = &other, &key
	}
	return at
}

// namesNamespaces tells whether the view's namespaces are those that its spec names.
func (p *planner) namesNamespaces() bool {
	return p.program.Namespaces.Named() != nil && !p.program.Namespaces.Selective()
}

// refusedProbe is the watch of all namespaces that is tried where the operator was
// refused one: the same, so that it stays refused for as long as it is.
func (p *planner) refusedProbe(r resources.Resource, wide watch.Key) *watch.Key {
	if !p.namesNamespaces() {
		return &wide
	}
	tried := toggledPartial(wide)
	for _, h := range p.current[r] {
		if h.key == wide && h.state.Reason == watch.Forbidden {
			tried = wide
		}
	}
	return &tried
}

// shareStateOf tells whether the view takes a resource from a shared watch: as soon as
// that has all there is, or at once if it has nothing else to show.
func (p *planner) shareStateOf(r resources.Resource, key watch.Key, crowded bool) shareState {
	var shared *watchStatus
	// meanwhile is how the view does without it, either how it does at best.
	meanwhile, either := unshared, onSharedWatch
	for _, h := range p.current[r] {
		switch {
		case h.key == key:
			shared = &h
		case h.key != toggledPartial(key):
			either = unshared
		case h.retains:
			meanwhile, either = onOtherWatch, onOtherWatch
		}
	}
	if meanwhile == onOtherWatch {
		either = meanwhile // whatever else it has
	}
	switch {
	case p.refused[r]:
		return unshared
	case shared == nil:
		return either
	case shared.state.Synced:
		return onSharedWatch
	case shared.state.Reason == watch.Forbidden && !shared.complete:
		return meanwhile
	case shared.state.Reason == watch.Forbidden, crowded:
		// For a moment, which refusals bounds; or because nothing else would be better.
		return either
	case shared.state.Err != nil, shared.late:
		return meanwhile
	default:
		return either
	}
}

// currentWatches are what the view takes from, by resource, and after how long one of them
// is late.
func (k *keeper) currentWatches(now time.Time) (current map[resources.Resource][]watchStatus, again time.Duration) {
	current, again = make(map[resources.Resource][]watchStatus), time.Hour
	for n, t := range k.taps {
		if !n.ofObjects() || !n.resource.Namespaced {
			continue
		}
		h := watchStatus{key: n.key, state: t.state(), complete: t.complete, retains: t.retains()}
		left := lateAfter - now.Sub(t.acquired)
		if h.late = left <= 0; !h.late && !h.state.Synced {
			again = min(again, left)
		}
		current[n.resource] = append(current[n.resource], h)
	}
	return current, again
}
