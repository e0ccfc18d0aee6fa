package health

import (
	"cmp"
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/jsontree"
)

// object has the fields that the rules read of one object.
type object struct {
	fields

	status     fields // which most rules read
	kind       Kind
	rule       *rule // of the kind
	generation int64
	conditions conditionsOf
}

// Of judges an object of a kind by its JSON. Fields of an unexpected type count as absent.
func Of(kind Kind, text []byte) Health {
	read, err := jsontree.Parse(text, Shape)
	if err != nil {
		return Health{State: Unknown}
	}
	return of(kind, fields{read})
}

// OfParts is Of for the parts of an object that were read with [Shape].
func OfParts(kind Kind, parts *jsontree.Parts) Health { return of(kind, fields{parts.Object()}) }

func of(kind Kind, f fields) Health {
	o := object{fields: f, status: f.at("status"), kind: kind, rule: cmp.Or(kinds[kind], &noRule)}
	if o.tooLong() {
		_ = budget.ObjectParts.Exceed() // counts it; the author of the object sees the reason
		return Health{State: Unknown, Reason: "StatusTooLong"}
	}
	o.generation = o.numberOr(0, "metadata", "generation")
	o.conditions = conditionsAt(o.status.Value, o.generation)
	if o.text("metadata", "deletionTimestamp") != "" {
		return o.terminating()
	}
	h := o.general()
	switch {
	case h.State != "":
	case o.rule.judge != nil:
		h = o.rule.judge(&o)
	default:
		h = o.conventional()
	}
	if (h.State == OK || h.State == Unknown) && o.outdated() {
		h = unseen()
	}
	if h.State == OK {
		h.Overdue = cmp.Or(o.status.seconds("notAfter"), o.status.seconds("certificatesExpiryDate"))
	}
	if h.State != Suspended && kind != podKind { // only the kubelet reports on a pod
		h = worseOf(h, o.belowElements())
	}
	if ready, wanted, counted := o.counts(); counted {
		h.Ready, h.Wanted, h.Counted = ready, wanted, true
	}
	return h
}

// outdated reports whether the controller has not seen the newest spec. 0 and -1 mean that it never
// writes a generation, and a number above the object's own belongs to another object.
func (o *object) outdated() bool {
	about := func(c *condition) bool { return c.fields.numberOr(0, "observedGeneration") == o.generation }
	observed := o.status.numberOr(0, "observedGeneration")
	return 0 < observed && observed < o.generation && !o.conditions.first(about).exists()
}

func unseen() Health { return progressing("LatestGenerationNotObserved", 0) }

// general judges by the rules for all kinds. The health has no state if they do not decide.
func (o *object) general() Health {
	spec, running := o.at("spec"), o.kind == podKind // a pod cannot be stopped
	stopped := o.conditions.first(func(c *condition) bool { return c.stops && c.isTrue() })
	failed, names, progress := o.conditions.failed(), o.conditions.find("NamesAccepted"), o.conditions.find("Progressing")
	reconciling, ready := o.conditions.find("Reconciling"), o.conditions.find("Ready")
	switch {
	case !running && spec.At("paused").IsTrue():
		return Health{State: Suspended, Reason: "Paused"}
	case !running && (spec.At("suspend").IsTrue() || spec.At("suspended").IsTrue()):
		return Health{State: Suspended, Reason: "Suspended"}
	case !running && stopped.exists():
		return stopped.health(Suspended, stopped.kind)
	case failed.exists():
		return failed.health(Degraded, failed.kind)
	case names.isFalse():
		return o.readinessBy(names.kind, names)
	case !progress.isTrue() && stops(progress.reason):
		return progress.health(Suspended, "")
	case progress.isFalse() && (failure(progress.reason) || progress.reason == "Blocked"):
		return progress.health(Degraded, "")
	case o.status.text("failureReason") != "":
		return degraded(o.status.text("failureReason"), ready.falseSince())
	case reconciling.isTrue() && ready.isFalse() && failure(ready.reason): // Flux keeps both between two attempts
		return ready.health(Degraded, "")
	case reconciling.isTrue():
		return reconciling.health(Progressing, "")
	}
	return Health{}
}

// usualConditions are written by many controllers and True when all is well. The first that an
// object has decides.
var usualConditions = []string{
	"Ready", "Available", "Healthy", "Programmed", "Succeeded", "Complete", "Established", "Synced",
	"Accepted", "Valid", "Reconciled", "Initialized", "Success", "UpToDate", "Updated", "JobCreated",
}

// conventional judges a kind without a rule: by a condition that many controllers write, else by a word, an
// end, a flag, or its parts. Other parts of the object count if they are worse.
func (o *object) conventional() Health {
	if !o.status.Exists() && o.rule.count == nil {
		return Health{State: Unknown}
	}
	words := o.byWords(o.status)
	h := o.readiness(usualConditions...)
	decided := h.State != ""
	if !decided {
		h = words
	}
	if h.State == Unknown || h.State == OK && !decided && o.says(o.status).State == Unknown { // a word below is about a part
		h = o.withoutPhase(h)
	}
	if decided && words.State == Degraded {
		h = worseOf(h, words)
	}
	if h.State != OK && h.State != Unknown && h.State != Progressing {
		return h
	}
	if c := o.conditions.failedReason(); c.exists() {
		return c.health(Degraded, "")
	}
	// A resource of Crossplane stays Ready while a change to it fails.
	for _, kind := range []string{"Synced", "Reconciled", "ReconcileComplete", "Healthy"} {
		if c := o.conditions.find(kind); c.isFalse() && h.State == OK {
			h = o.readinessBy(kind, c)
		}
	}
	if c := o.conditions.working(); c.exists() && h.State == OK && !o.runsOnce() {
		h = c.health(Progressing, c.kind)
	}
	if names(h.Reason, patient) {
		return h.endless()
	}
	return h
}

// withoutPhase judges an object without a condition about the whole and without a word.
func (o *object) withoutPhase(h Health) Health {
	// Objects that run once have these. The phase comes first, since it says how the run ended.
	if ended := o.readiness("Completed", "Finished", "Done"); ended.State != "" {
		return ended
	}
	if said := o.byFlags(o.status); said.State != Unknown {
		return said
	}
	for i := range o.conditions {
		c := &o.conditions[i]
		switch {
		case c.isTrue() && strings.Contains(c.kind, "Proposal"): // a person has to approve it
			h = worseOf(h, c.health(Progressing, c.kind).endless())
		case hasEnd(c.kind, "Ready", "Available", "Healthy", "Synced", "Success", "UpToDate", "Provisioned") && !strings.Contains(c.kind, "Not"):
			h = worseOf(h, o.readinessBy(c.kind, c))
		case c.isFalse() && stops(c.reason):
			h = worseOf(h, c.health(Suspended, ""))
		case c.isTrue() && strings.HasSuffix(c.kind, "ing") && c.done():
			h = worseOf(h, c.health(OK, ""))
		case c.isTrue() && strings.HasSuffix(c.kind, "ing"):
			said := o.judgeWord(c.kind)
			if said.State == Progressing && !o.runsOnce() {
				said = c.health(Progressing, c.kind)
			}
			h = worseOf(h, said)
		}
	}
	switch ready, wanted, counted := o.counts(); {
	case h.State != Unknown || !counted:
		return h
	case ready < wanted:
		return progressing("", 0)
	}
	return ok()
}

// terminating returns the health of an object that is being deleted. Its reason is the cause of the
// wait: the condition of a Namespace or CustomResourceDefinition, else its finalizers.
func (o *object) terminating() Health {
	h := Health{State: Terminating, Since: o.seconds("metadata", "deletionTimestamp")}
	h.Overdue = deadline(h.Since)
	remaining := o.conditions.first(func(c *condition) bool {
		return c.isTrue() && (strings.HasSuffix(c.kind, "Remaining") || c.kind == "Terminating")
	})
	switch c := o.conditions.failed(); {
	case c.exists():
		h.Reason = word(c.kind)
	case remaining.exists() && (o.kind == Kind{"", "Namespace"} || o.kind == Kind{"apiextensions.k8s.io", "CustomResourceDefinition"}):
		h.Reason = word(cmp.Or(remaining.reason, remaining.kind))
	case o.At("metadata", "finalizers").Len() > 0:
		h.Reason = "FinalizersRemaining"
	}
	return h
}
