package health

import (
	"slices"

	"graphview.dev/graphview/budget"
)

// elementLists are lists of a status whose elements have conditions of their own, as in Gateway
// API. The ingress of OpenShift's Route is a list of routers.
var elementLists = []string{"parents", "ancestors", "listeners", "ingress"}

// belowElements returns the worst health that the elements of these lists report, Unknown if there are
// none. An element that only reports about an older generation does not count if another element reports
// about the newest.
func (o *object) belowElements() Health {
	worst, newest := Health{State: Unknown}, false
	for _, list := range elementLists {
		for f := range o.status.At(list).Objects {
			element := object{kind: o.kind, conditions: conditionsAt(f, o.generation)}
			switch current := slices.ContainsFunc(element.conditions, func(c condition) bool { return !c.outdated }); {
			case current && !newest:
				worst, newest = element.element(), true
			case current == newest:
				worst = worseOf(worst, element.element())
			}
		}
	}
	return worst
}

// element judges one element by its worst condition.
func (o *object) element() Health {
	if c := o.conditions.failed(); c.exists() {
		return c.health(Degraded, c.kind)
	}
	worst := Health{State: Unknown}
	if c := o.conditions.failedReason(); c.exists() {
		worst = c.health(Degraded, "")
	}
	for _, kind := range []string{"Accepted", "Admitted", "ResolvedRefs", "Programmed"} {
		worst = worseOf(worst, o.readiness(kind))
	}
	return worst
}

// maxElements is the maximum length of a list: a condition takes many times the memory of its JSON.
var maxElements = int(budget.ObjectParts.Limit()) / 10

// perElement is the maximum number of conditions of one parent, ancestor or listener.
const perElement = 64

// tooLong reports whether a list is longer than maxElements, an element of one has more than perElement
// conditions, or all elements together have more than maxElements conditions.
func (o *object) tooLong() bool {
	if o.Count() <= perElement {
		return false
	}
	longest, all := o.At("endpoints").Len(), 0
	for _, name := range statusLists {
		list := o.status.At(name)
		longest = max(longest, list.Len())
		for element := range list.Objects {
			n := element.At("conditions").Len()
			if n > perElement {
				return true
			}
			all += n
		}
	}
	return max(longest, all) > maxElements
}

var statusLists = slices.Concat([]string{"conditions"}, containerLists, elementLists)
