package graph

import "maps"

// Urgency says whether the labels and references of an object may wait, since they may change very many arcs,
// be compared with very many objects, or take long to find.
type Urgency uint8

const (
	// AtOnce sets them with the object. If they change too many arcs for one revision, no other change is
	// allowed until they are made; see Graph.HasOpenUpdate.
	AtOnce Urgency = iota
	// MayWait sets the object without them if they are large, so that other objects need not wait.
	// Graph.Awaits then returns true, and the caller sets the object again, Unhurried.
	MayWait
	// Unhurried sets them with the object. If they change too many arcs for one revision, other objects may change
	// before all are made; see Graph.HasSharedUpdate.
	Unhurried
	// Later sets the object without them, since they are found later. Graph.Awaits then returns true.
	Later
)

// largeChange is the number of arcs above which labels and references are large. A comparison with
// requirementsOfVisit requirements counts as an arc. It takes up to half a millisecond to make so many.
const largeChange = 512

// fewSelectors are so few that it takes less time to compare an object with all than to count those of its labels.
const fewSelectors = 64

// Awaits reports whether the labels and references of a node's object are those of an earlier version or missing,
// because they wait for the next Set, or whether that Set may find room for them or other targets. In Update.
func (g *Graph) Awaits(id NodeID) bool { return id != 0 && g.nodes.at(nodeID(id)).awaits }

// large reports whether the labels and references of an object are large. It counts those of the node and those of
// the object, since it does not compare names: few objects have so many, and change more than their status. want are
// the selectors of the object.
func (g *Graph) large(id nodeID, o *Object, want []*selector) bool {
	n := g.nodes.at(id)
	cost := int(n.names)
	for i := range o.References {
		if o.References[i].Name != "" {
			cost++
		}
	}
	if cost += g.costOfLabels(id, o.Labels); cost > g.largeChange {
		return true
	}
	if equalSelectors(n.held(), want) {
		return false
	}
	if n.holder != nil {
		cost += n.holder.matches
	}
	next := g.newHolder(id, want)
	if next == nil || next.requirements > g.mostRequirements {
		return cost > g.largeChange
	}
	slots := 0
	for sc := range g.scopesOf(next) {
		slots += len(sc.slots)
	}
	if cost += slots * next.requirements / requirementsOfVisit; cost > g.largeChange {
		return true
	}
	for _, at := range g.candidates(next) {
		if cost += g.matchesOf(next, at); cost > g.largeChange {
			return true
		}
	}
	return false
}

// costOfLabels returns the number of arcs and comparisons that other labels of an object take. It is not exact once it is large.
func (g *Graph) costOfLabels(id nodeID, labels map[string]string) (cost int) {
	at := g.slots.at(g.nodes.at(id).slot)
	if g.entered(g.nodes.at(id).slot) && maps.Equal(labels, g.labelsOf(id)) {
		return 0
	}
	scopes, compared := [2]*scope{g.scopeAt(at.kind, at.space), g.scopeAt(at.kind, 0)}, 0
	for _, sc := range scopes {
		if sc != nil {
			compared += sc.comparisons(labels)
		}
	}
	if cost = int(at.selected) + compared/requirementsOfVisit; compared <= g.largeChange || cost > g.largeChange {
		return cost
	}
	g.selecting++
	for _, sc := range scopes {
		if sc == nil {
			continue
		}
		for s := range g.compared(sc, labels) {
			if h := s.holder; h.selecting != g.selecting && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
				h.selecting = g.selecting
				if cost++; cost > g.largeChange {
					return cost
				}
			}
		}
	}
	return cost
}

// comparisons returns the largest number of selectors that an object with these labels is compared with.
func (sc *scope) comparisons(labels map[string]string) int {
	if sc.selectors <= fewSelectors {
		return sc.selectors
	}
	n := len(sc.rest)
	for k, v := range labels {
		n += sc.crowd(hashOf(k, v)) + sc.crowd(hashOf(k, anyValue))
	}
	return n
}

// selectInSlices makes the arcs of selectors in slices. If that is not urgent, and no other such update goes on,
// other changes are made between the slices.
func (g *Graph) selectInSlices(c *selectorUpdate, urgency Urgency) {
	if urgency != Unhurried || g.shared != nil {
		g.openUpdates = append(g.openUpdates, c)
		return
	}
	g.shared = c
	g.cleanups = append(g.cleanups, c)
}

// HasSharedUpdate reports whether the arcs of an object that was set Unhurried are not all made. Only the writer
// calls it.
func (g *Graph) HasSharedUpdate() bool { return g.shared != nil }
