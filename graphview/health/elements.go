package health

import (
	"cmp"

	"graphview.dev/graphview/budget"
)

// elementLists are lists of a status whose elements have conditions of their own, as
// Gateway API has them: a route reports to each of its parents, a policy to each
// ancestor, a Gateway for each listener, and a Route of OpenShift to each router.
var elementLists = []string{"parents", "ancestors", "listeners", "ingress"}

// belowElements is the worst health that the elements of these lists report, Unknown if
// there are none. An element that only reports about an older generation does not count
// if another element reports about the newest.
func (o *object) belowElements() Health {
	worst := Health{State: Unknown}
	newest := false
	for _, list := range elementLists {
		o.status.each(func(f fields) bool {
			element := object{fields: f, kind: o.kind, conditions: conditionsAt(f, o.generation, "conditions")}
			current := element.conditions.newest()
			if newest && !current || len(element.conditions) == 0 {
				return true
			}
			h := element.element()
			if current && !newest || worst.State == Unknown || h.State.Severity() > worst.State.Severity() {
				worst, newest = h, newest || current
			}
			return true
		}, list)
	}
	return worst
}

// element judges one element, by the worst that it says.
func (o *object) element() Health {
	if c, failed := o.conditions.failed(); failed {
		return degraded(cmp.Or(c.reason, c.kind), c.since())
	}
	worst := Health{State: Unknown}
	if c, refused := o.conditions.refused(); refused {
		worst = degraded(c.reason, c.since())
	}
	for _, kind := range []string{"Accepted", "Admitted", "ResolvedRefs", "Programmed"} {
		if h, found := o.readiness(kind); found {
			worst = worse(worst, h)
		}
	}
	return worst
}

// maxElements is the longest list that is read, since each condition takes many times
// the bytes that it has in JSON.
var maxElements = int(budget.ObjectParts.Limit()) / 10

// perElement is how many conditions of one parent, ancestor or listener are read.
const perElement = 64

// tooLong reports whether a list of the status is longer than Of reads, or the elements
// of a list together have more conditions than one list may have.
func (o *object) tooLong() bool {
	if n := o.read.Count(); n > 0 && n <= perElement {
		return false
	}
	if o.length("endpoints") > maxElements {
		return true
	}
	for _, lists := range [][]string{{"conditions"}, containerLists, elementLists} {
		for _, name := range lists {
			if o.status.length(name) > maxElements {
				return true
			}
		}
	}
	all, long := 0, false
	for _, list := range elementLists {
		o.status.each(func(element fields) bool {
			n := element.length("conditions")
			all += n
			long = n > perElement || all > maxElements
			return !long
		}, list)
	}
	return long
}
