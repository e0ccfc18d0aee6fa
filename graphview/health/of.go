package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/jsontree"
)

// Kind is the group and the kind of an object.
type Kind struct{ Group, Kind string }

// rule judges the objects of one kind, after [general] found nothing.
type rule func(*object) Health

// rules are those of Kubernetes' own kinds; those of other projects are in
// projects.go. Each says in its comment which general rule it overrides.
var rules = map[Kind]rule{
	{"", "Pod"}:                                pod,
	{"", "Service"}:                            balanced,
	{"", "PersistentVolumeClaim"}:              claim,
	{"", "Node"}:                               node,
	{"", "ReplicationController"}:              replicaSet,
	{"apps", "Deployment"}:                     deployment,
	{"apps", "StatefulSet"}:                    statefulSet,
	{"apps", "DaemonSet"}:                      daemonSet,
	{"apps", "ReplicaSet"}:                     replicaSet,
	{"batch", "Job"}:                           job,
	{"batch", "CronJob"}:                       cronJob,
	{"discovery.k8s.io", "EndpointSlice"}:      endpointSlice,
	{"policy", "PodDisruptionBudget"}:          disruptionBudget,
	{"autoscaling", "HorizontalPodAutoscaler"}: autoscaler,
	{"networking.k8s.io", "Ingress"}:           balanced,
}

// object is what the rules read of one object.
type object struct {
	fields

	status     fields // which most rules read
	kind       Kind
	generation int64
	conditions conditionsOf
	// outdated: the controller has not seen the newest spec.
	outdated bool
}

// Of judges an object of a kind. The object is a tree of JSON, whole or the parts
// that [Shape] asks for; it is not changed. Fields of an unexpected type count as
// absent.
func Of(kind Kind, tree map[string]any) Health { return of(kind, fields{tree: tree}) }

// OfParts is Of for the parts of an object that were read as [Shape] asks for them.
func OfParts(kind Kind, parts *jsontree.Parts) Health { return of(kind, fields{read: parts.Object()}) }

func of(kind Kind, f fields) Health {
	o := object{fields: f, status: f.at("status"), kind: kind}
	if o.tooLong() {
		_ = budget.ObjectParts.Exceed() // counts it; the author of the object sees the reason
		return Health{State: Unknown, Reason: "StatusTooLong"}
	}
	o.readStatus()
	if deleted := f.text("metadata", "deletionTimestamp"); deleted != "" {
		return o.terminating(seconds(deleted))
	}
	h, decided := o.general()
	if !decided {
		h = o.own()
	}
	if o.outdated && (h.State == OK || h.State == Unknown) {
		h = unseen()
	}
	if h.State != Suspended && kind != podKind { // only the kubelet reports on a pod
		h = worse(h, o.belowElements())
	}
	if ready, wanted, counted := o.counts(); counted {
		return h.counted(ready, wanted)
	}
	return h
}

// worse is the worse of two healths. Unknown is only worse than nothing else.
func worse(h, other Health) Health {
	if other.State != Unknown && (h.State == Unknown || other.State.Severity() > h.State.Severity()) {
		return other
	}
	return h
}

func (o *object) readStatus() {
	o.generation, _ = o.number("metadata", "generation")
	observed, _ := o.status.number("observedGeneration")
	// 0 and -1 stand for a controller that never wrote one, and a larger number for
	// the generation of another object.
	o.conditions = conditionsAt(o.status, o.generation, "conditions")
	o.outdated = observed > 0 && observed < o.generation && !o.conditions.about(o.generation)
}

// unseen is the health of an object whose status is older than its spec.
func unseen() Health { return progressing("LatestGenerationNotObserved", 0) }

// general is what all kinds have in common, and whether it decides.
func (o *object) general() (Health, bool) {
	if h, stopped := o.stopped(); stopped {
		return h, true
	}
	if c, failed := o.conditions.failed(); failed {
		return degraded(cmp.Or(c.reason, c.kind), c.since()), true
	}
	if c, found := o.conditions.find("NamesAccepted"); found && c.status == "False" {
		return o.readinessBy(c.kind, c), true
	}
	if c, found := o.conditions.find("Progressing"); found && !c.isTrue() {
		switch {
		case stops(c.reason):
			return Health{State: Suspended, Reason: word(c.reason), Since: c.since()}, true
		case failure(c.reason) && c.status == "False":
			return degraded(c.reason, c.since()), true
		}
	}
	c, reconciling := o.conditions.find("Reconciling")
	if reconciling && c.isTrue() {
		// Flux keeps it True between two attempts.
		if ready, found := o.conditions.find("Ready"); found && ready.status == "False" && failure(ready.reason) {
			return degraded(ready.reason, ready.since()), true
		}
		return progressing(c.reason, c.since()), true
	}
	return Health{}, false
}

// stopped is the health of an object that was suspended: by its spec, or by a True
// condition whose type says so.
func (o *object) stopped() (Health, bool) {
	if o.kind == podKind {
		return Health{}, false
	}
	spec := o.at("spec")
	switch {
	case spec.isTrue("paused"):
		return Health{State: Suspended, Reason: "Paused"}, true
	case spec.isTrue("suspend") || spec.isTrue("suspended"):
		return Health{State: Suspended, Reason: "Suspended"}, true
	}
	for _, c := range o.conditions {
		if c.isTrue() && c.meaning().stops {
			return Health{State: Suspended, Reason: word(cmp.Or(c.reason, c.kind)), Since: c.since()}, true
		}
	}
	return Health{}, false
}

// own is what the rule of the kind says, or what most projects mean by their status.
func (o *object) own() Health {
	if r, known := rules[o.kind]; known {
		return r(o)
	}
	if p, known := projects[o.kind]; known {
		return p.of(o)
	}
	return o.conventional()
}

// usualConditions are written by many controllers and True when all is well. The first
// that an object has decides.
var usualConditions = []string{
	"Ready", "Available", "Healthy", "Programmed", "Succeeded", "Complete", "Established", "Synced",
	"Accepted", "Valid", "Reconciled", "Initialized", "Success", "UpToDate", "Updated", "JobCreated",
}

// partConditions are ends of the types of conditions about a part of the object, such as
// DatabaseReady. They count where no condition is about the whole.
var partConditions = []string{"Ready", "Available", "Healthy", "Synced", "Success", "UpToDate"}

// endConditions are those of objects that run once. They come after the phase, which
// says how it ended.
var endConditions = []string{"Completed", "Finished"}

// usualWords are where projects have a word for the state.
var usualWords = [][]string{
	{"status", "health"}, {"status", "phase"}, {"status", "state"}, {"status", "status"}, {"status", "state", "phase"},
	{"status", "lifecycleState"}, {"status", "jobStatus"}, {"status", "jobDeploymentStatus"}, {"status", "jobManagerDeploymentStatus"},
	{"status", "currentStatus"}, {"status", "PostgresClusterStatus"}, {"status", "connectionState", "lastObservedState"}, {"status", "applicationState", "state"},
}

// usualFlags are where projects have a boolean that is true when all is well.
var usualFlags = [][]string{
	{"status", "ready"}, {"status", "readyToUse"}, {"status", "applied"}, {"status", "deployed"}, {"status", "provisioned"}, {"status", "healthy"},
	{"status", "conditionStatus", "ready"},
}

// conventional judges a kind without a rule: by a condition that many controllers
// write, else a word, else a flag, else by conditions about its parts.
func (o *object) conventional() Health {
	if h, found := o.readiness(usualConditions...); found {
		// A resource of Crossplane stays Ready while a change of it fails.
		for _, kind := range []string{"Synced", "Reconciled", "ReconcileComplete"} {
			if c, _ := o.conditions.find(kind); c.status == "False" && (h.State == OK || h.State == Progressing && failure(c.reason)) {
				h = o.readinessBy(kind, c)
			}
		}
		return h
	}
	h := Health{State: Unknown}
	for _, path := range usualWords {
		text := o.text(path...)
		if text == "" {
			continue
		}
		said, known := o.phase(text, nil)
		if known {
			h = said
			break
		}
		h.Reason = cmp.Or(h.Reason, said.Reason)
	}
	if h.State == Unknown {
		h = o.unphased(h)
	}
	if c, refused := o.conditions.refused(); refused && (h.State == Unknown || h.State == Progressing) {
		return degraded(c.reason, c.since())
	}
	return h
}

// unphased judges an object without a condition about the whole and without a word.
func (o *object) unphased(h Health) Health {
	if ended, found := o.readiness(endConditions...); found {
		return ended
	}
	for _, path := range usualFlags {
		switch {
		case o.isTrue(path...):
			return ok()
		case o.isFalse(path...) && o.has("status", "error"):
			return degraded("Error", 0)
		case o.isFalse(path...):
			return progressing("NotReady", 0)
		}
	}
	for _, c := range o.conditions {
		part := slices.ContainsFunc(partConditions, func(end string) bool { return strings.HasSuffix(c.kind, end) && !strings.Contains(c.kind, "Not") })
		var said Health
		switch {
		case part:
			said = o.readinessBy(c.kind, c)
		case c.isTrue() && strings.HasSuffix(c.kind, "ing"):
			if said, _ = o.phase(c.kind, nil); said.State == Progressing && !o.runsOnce() {
				said = progressing(cmp.Or(c.reason, c.kind), c.since())
			}
		default:
			continue
		}
		h = worse(h, said)
	}
	if ready, wanted, counted := o.counts(); counted && h.State == Unknown {
		if ready < wanted {
			return progressing("", 0)
		}
		return ok()
	}
	return h
}

// countedAt are where kinds count their ready parts, and how many they want, where not in replicas.
var countedAt = map[Kind]struct{ ready, wanted []string }{
	{"apps", "DaemonSet"}:             {[]string{"status", "numberReady"}, []string{"status", "desiredNumberScheduled"}},
	{"policy", "PodDisruptionBudget"}: {[]string{"status", "currentHealthy"}, []string{"status", "desiredHealthy"}},
	{"postgresql.cnpg.io", "Cluster"}: {[]string{"status", "readyInstances"}, []string{"spec", "instances"}},
}

// counts are how many parts of the object are ready, and how many its spec wants.
func (o *object) counts() (ready, wanted int64, counted bool) {
	switch o.kind {
	case podKind:
		return tally(func(c fields) bool { return c.isTrue("ready") }, o.status, "containerStatuses")
	case Kind{"batch", "Job"}:
		wanted := o.numberOr(o.numberOr(1, "spec", "parallelism"), "spec", "completions")
		return o.numberOr(0, "status", "succeeded"), wanted, true
	case Kind{"discovery.k8s.io", "EndpointSlice"}:
		return tally(func(e fields) bool { return !e.isFalse("conditions", "ready") }, o.fields, "endpoints") // absent counts as ready, by the API
	}
	if at, known := countedAt[o.kind]; known {
		wanted, counted = o.number(at.wanted...)
		return o.numberOr(0, at.ready...), wanted, counted
	}
	ready, found := o.number("status", "readyReplicas")
	if !found {
		ready, found = o.number("status", "readyCount")
	}
	if replicated[o.kind] {
		return ready, o.numberOr(1, "spec", "replicas"), true
	}
	wanted, specified := o.number("spec", "replicas")
	if !specified {
		wanted, specified = o.number("status", "replicas")
	}
	return ready, wanted, found && specified
}

// replicated are Kubernetes' kinds with spec.replicas, which is 1 by default and whose status leaves
// out a count of 0.
var replicated = map[Kind]bool{
	{"", "ReplicationController"}: true, {"apps", "Deployment"}: true, {"apps", "StatefulSet"}: true, {"apps", "ReplicaSet"}: true,
	{"argoproj.io", "Rollout"}: true,
}

// tally counts all elements of a list and the ready ones.
func tally(isReady func(fields) bool, f fields, path ...string) (ready, all int64, counted bool) {
	f.each(func(element fields) bool {
		all++
		if isReady(element) {
			ready++
		}
		return true
	}, path...)
	return ready, all, all > 0
}

// terminating is the health of an object that is being deleted, and why it still
// exists: the condition of a Namespace or CustomResourceDefinition that names the
// obstacle, else its finalizers.
func (o *object) terminating(at int64) Health {
	h := Health{State: Terminating, Since: at}
	if at != 0 {
		h.Overdue = at + int64(Patience/time.Second)
	}
	switch c, failed := o.conditions.failed(); {
	case failed:
		h.Reason = word(c.kind)
		return h
	case o.kind == Kind{"", "Namespace"} || o.kind == Kind{"apiextensions.k8s.io", "CustomResourceDefinition"}:
		for _, c := range o.conditions {
			if c.isTrue() && (strings.HasSuffix(c.kind, "Remaining") || c.kind == "Terminating") {
				h.Reason = word(cmp.Or(c.reason, c.kind))
				return h
			}
		}
	}
	if o.length("metadata", "finalizers") > 0 {
		h.Reason = "FinalizersRemaining"
	}
	return h
}
