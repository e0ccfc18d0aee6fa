package health

import "graphview.dev/graphview/jsontree"

// Kind is the group and the kind of an object.
type Kind struct{ Group, Kind string }

// rule is how the objects of one kind are. It is asked after what all kinds have
// in common.
type rule func(object fields, conditions conditionsOf) Health

// rules are those of Kubernetes' own kinds; those of other projects are in
// projects.go.
var rules = map[Kind]rule{
	{"", "Pod"}:                                          pod,
	{"", "Service"}:                                      service,
	{"", "PersistentVolumeClaim"}:                        claim,
	{"", "PersistentVolume"}:                             volume,
	{"", "Node"}:                                         node,
	{"", "Namespace"}:                                    namespace,
	{"", "ReplicationController"}:                        replicaSet,
	{"apps", "Deployment"}:                               deployment,
	{"apps", "StatefulSet"}:                              statefulSet,
	{"apps", "DaemonSet"}:                                daemonSet,
	{"apps", "ReplicaSet"}:                               replicaSet,
	{"batch", "Job"}:                                     job,
	{"batch", "CronJob"}:                                 cronJob,
	{"policy", "PodDisruptionBudget"}:                    disruptionBudget,
	{"autoscaling", "HorizontalPodAutoscaler"}:           autoscaler,
	{"networking.k8s.io", "Ingress"}:                     ingress,
	{"apiregistration.k8s.io", "APIService"}:             apiService,
	{"apiextensions.k8s.io", "CustomResourceDefinition"}: definition,
}

// Of says how an object of a kind is. The object is a tree of JSON, whole or
// those parts of it that [Shape] asks for; it is not changed. Fields of another
// type than they should have count as absent.
func Of(kind Kind, object map[string]any) Health { return of(kind, fields{tree: object}) }

// OfParts is Of for the parts of an object that were read as [Shape] asks for them.
func OfParts(kind Kind, parts *jsontree.Parts) Health { return of(kind, fields{read: parts.Object()}) }

func of(kind Kind, f fields) Health {
	if deleted := f.text("metadata", "deletionTimestamp"); deleted != "" {
		return Health{State: Terminating, Since: seconds(deleted)}
	}
	if tooLong(f) {
		_ = elements.Exceed() // counts it; whose object it is sees the reason
		return Health{State: Unknown, Reason: "StatusTooLong"}
	}
	conditions := conditionsAt(f, "status", "conditions")
	if h, decided := general(kind, f, conditions); decided {
		return counts(kind, f, h)
	}
	if r, known := rules[kind]; known {
		return r(f, conditions)
	}
	if r, known := projects[kind]; known {
		return r.of(f, conditions)
	}
	return conventional(f, conditions)
}

// general is what all kinds have in common: suspension, a generation that the
// controller has not seen yet, and the two conditions that kstatus asks of
// controllers.
func general(kind Kind, f fields, conditions conditionsOf) (Health, bool) {
	if spec := f.below("spec"); kind != podKind && (spec.isTrue("suspend") || spec.isTrue("suspended") || spec.isTrue("paused")) {
		h := Health{State: Suspended, Reason: "Suspended"}
		if spec.isTrue("paused") {
			h.Reason = "Paused"
		}
		return h, true
	}
	generation, found := f.number("metadata", "generation")
	observed, seen := f.number("status", "observedGeneration")
	// Text that is no generation, such as the hash that an Argo Rollout writes, is
	// no statement about one.
	if found && seen && observed != generation {
		return Health{State: Progressing, Reason: "LatestGenerationNotObserved"}, true
	}
	if c, there := conditions.find("Reconciling"); there && c.isTrue() {
		return progressing(c.reason, c.since), true
	}
	if c, there := conditions.find("Stalled"); there && c.isTrue() {
		return Health{State: Degraded, Reason: word(c.reason), Since: c.since}, true
	}
	return Health{}, false
}

// counts adds to a decision that was made without the kind's rule how many parts
// are ready.
func counts(kind Kind, f fields, h Health) Health {
	if r, known := rules[kind]; known {
		if c := r(f, nil); c.Counted {
			return h.counted(c.Ready, c.Wanted)
		}
	}
	return h
}

// usualConditions are those that many controllers write, and that are True when all is
// well.
var usualConditions = []string{"Ready", "Available", "Healthy", "Programmed", "Succeeded", "Complete", "Established", "Synced"}

// conventional is how an object of a kind without a rule is: what a condition that
// many controllers write says, else a phase.
func conventional(f fields, conditions conditionsOf) Health {
	for _, bad := range []string{"Degraded", "Failed", "Failure"} {
		if c, found := conditions.find(bad); found && c.isTrue() {
			return Health{State: Degraded, Reason: word(c.reason), Since: c.since}
		}
	}
	if h, found := conditions.readiness(usualConditions...); found {
		// Crossplane's resources stay Ready while a change of them fails.
		if sync, there := conditions.find("Synced"); there && sync.status == "False" && h.State == OK {
			h, _ = conditions.readiness("Synced")
		}
		return h
	}
	for _, path := range [][]string{{"status", "phase"}, {"status", "state"}, {"status", "health"}} {
		if h := phase(f.text(path...), phases); h.State != Unknown {
			return h
		}
	}
	return Health{State: Unknown}
}
