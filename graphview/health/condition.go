package health

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/graphview/jsontree"
)

// condition is one of an object's status.conditions.
type condition struct {
	meaning // of its type

	// status is Unknown if the condition is about an older generation than the object's. A
	// condition without a status, as Argo CD writes them, is True if its type names a failure.
	status, reason string
	outdated       bool
	fields         fields
}

// since returns when the status of the condition last changed, in seconds since 1970.
func (c *condition) since() int64 { return c.fields.seconds("lastTransitionTime") }

// falseSince returns since if the condition is False, else 0.
func (c *condition) falseSince() int64 {
	if c.isFalse() {
		return c.since()
	}
	return 0
}

func (c *condition) exists() bool  { return c != &noCondition }
func (c *condition) isTrue() bool  { return c.status == "True" }
func (c *condition) isFalse() bool { return c.status == "False" }

// health returns the health in a state, with the reason of the condition or, if it has none, otherwise.
func (c *condition) health(state State, otherwise string) Health {
	return Declared(state, cmp.Or(c.reason, otherwise), c.since())
}

// conditionsOf are an object's conditions, or those of one element of a list.
type conditionsOf []condition

func conditionsAt(v jsontree.Value, generation int64) conditionsOf {
	list := v.At("conditions")
	all := make(conditionsOf, 0, list.Len())
	for element := range list.Objects {
		at := fields{element}
		said, _ := at.At("type").Text()
		c := condition{meaning: meaningOf(said), status: at.text("status"), reason: at.text("reason"), fields: at}
		var observed int64
		if generation > 1 { // a condition can be older
			observed = at.numberOr(0, "observedGeneration")
		}
		switch {
		case observed > 0 && observed < generation:
			c.status, c.reason, c.outdated = "Unknown", "LatestGenerationNotObserved", true
		case c.status == "" && failure(c.kind):
			c.status = "True"
		}
		all = append(all, c)
	}
	return all
}

// first returns the first wanted condition, noCondition if there is none.
func (all conditionsOf) first(wanted func(*condition) bool) *condition {
	for i := range all {
		if wanted(&all[i]) {
			return &all[i]
		}
	}
	return &noCondition
}

var noCondition condition

func (all conditionsOf) find(kind string) *condition {
	return all.first(func(c *condition) bool { return c.kind == kind })
}

// failed returns the first True condition whose type names a failure.
func (all conditionsOf) failed() *condition {
	return all.first(func(c *condition) bool { return c.fails && c.isTrue() })
}

// failedReason returns the first False condition whose reason names a failure, although its type does not.
// A version that cannot be upgraded works.
func (all conditionsOf) failedReason() *condition {
	return all.first(func(c *condition) bool {
		return c.isFalse() && !c.fails && failure(c.reason) && !strings.HasSuffix(c.kind, "Upgradeable")
	})
}

// working returns the first True condition whose type says that a controller changes the object, unless its
// reason says that this has ended.
func (all conditionsOf) working() *condition {
	return all.first(func(c *condition) bool {
		return c.isTrue() && hasEnd(c.kind, work...) && !c.done()
	})
}

// done reports whether the reason says that the process which the condition's type names has ended.
func (c *condition) done() bool {
	return phases[plain(c.reason)] == OK || hasEnd(c.reason, "Available", "Complete", "Completed", "Succeeded")
}

// readiness judges by the first of these conditions that the object has. They are True when all is well.
// NotReady=True counts as Ready=False. Without any of them the health has no state.
func (o *object) readiness(kinds ...string) Health {
	for _, kind := range kinds {
		if c := o.conditions.find(kind); c.exists() {
			return o.readinessBy(kind, c)
		}
		not := func(c *condition) bool { return strings.HasPrefix(c.kind, "Not") && c.kind[len("Not"):] == kind }
		if c := o.conditions.first(not); c.exists() {
			contrary := *c
			contrary.status = map[string]string{"True": "False", "False": "True"}[c.status]
			return o.readinessBy(kind, &contrary)
		}
	}
	return Health{}
}

func (o *object) readinessBy(kind string, c *condition) Health {
	switch {
	case c.isTrue() && ends[kind] && failure(c.reason), c.status == "Degraded": // the latter of the Prometheus operator
		return c.health(Degraded, "")
	case c.isTrue():
		return c.health(OK, "")
	case !c.isFalse():
	case stops(c.reason):
		return c.health(Suspended, "")
	case ended[plain(c.reason)]:
		return c.health(OK, "")
	case failure(c.reason), c.fields.text("severity") == "Error", kind == "Synced" && c.reason == "", kind == "Succeeded" && o.runsOnce(), verdicts[kind] && !isPending(c.reason):
		return c.health(Degraded, "Not"+kind)
	}
	h := c.health(Progressing, "Not"+kind)
	if c.outdated {
		h = unseen()
	}
	if kind == "Succeeded" || kind == "Complete" || o.runsOnce() || !c.isFalse() && startsWord(c.reason, "No") { // such as NoHealthyBackends, at zero
		return h.endless()
	}
	return h
}

// ends are conditions that are True at the end, however that was.
var ends = map[string]bool{"Completed": true, "Finished": true, "Done": true}

// verdicts are conditions that are False only after the controller has looked at the spec.
var verdicts = map[string]bool{
	"Accepted": true, "Admitted": true, "ResolvedRefs": true, "Programmed": true, "Established": true, "NamesAccepted": true, "Valid": true, "Success": true,
}

// isPending reports whether a reason means that the controller has not reached a verdict yet.
func isPending(reason string) bool {
	return strings.HasPrefix(reason, "Waiting") || strings.HasSuffix(plain(reason), "ing") || reason == "AddressNotAssigned"
}

// runsOnce reports whether the object runs to an end, or moves data, by the name of its kind. It may be
// Running for days.
func (o *object) runsOnce() bool {
	return hasEnd(o.kind.Kind, "Job", "Run", "Workflow", "Experiment", "SparkApplication", "Migration", "Backup", "Restore", "Upload", "Download", "Import",
		"Export", "DataVolume") && !strings.HasPrefix(o.kind.Kind, "Scheduled")
}

func hasStart(text string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) })
}

func hasEnd(text string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(text, end) })
}

// Usual reports whether many projects write a condition of this type that is True when all is well.
func Usual(kind string) bool { return slices.Contains(usualConditions, kind) }

// NamesFailure reports whether the type of a condition names a failure.
func NamesFailure(kind string) bool { return newMeaning(kind).fails }
