package health

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
	generation, _ := o.number("metadata", "generation")
	for _, list := range elementLists {
		o.each(func(f fields) bool {
			element := object{fields: f, kind: o.kind, conditions: conditionsAt(f, generation, "conditions")}
			current := element.conditions.newest()
			if newest && !current || len(element.conditions) == 0 {
				return true
			}
			h := element.element()
			if current && !newest || worst.State == Unknown || h.State.Severity() > worst.State.Severity() {
				worst, newest = h, newest || current
			}
			return true
		}, "status", list)
	}
	return worst
}

// element judges one element. A False is final there unless its reason says that it
// waits: the controller has looked at the spec and rejects it.
func (o *object) element() Health {
	if c, failed := o.conditions.failed(); failed {
		return degraded(orElse(c.reason, c.kind), c.since())
	}
	worst := Health{State: Unknown}
	if c, refused := o.conditions.refused(); refused {
		worst = degraded(c.reason, c.since())
	}
	for _, kind := range []string{"Accepted", "Admitted", "ResolvedRefs", "Programmed"} {
		c, found := o.conditions.find(kind)
		if !found {
			continue
		}
		h := o.readinessBy(kind, c)
		if c.status == "False" && !waits(c.reason) {
			h = degraded(orElse(c.reason, "Not"+kind), c.since())
		}
		worst = worse(worst, h)
	}
	return worst
}
