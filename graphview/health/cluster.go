package health

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/graphview/jsontree"
)

// node overrides the general rules: a node that does not answer cannot report that it is degraded, and the
// conditions that others than the kubelet write are True when there is a problem, by the contract of
// node-problem-detector, unless their type says otherwise.
func node(o *object) Health {
	h := o.readiness("Ready")
	trouble := o.conditions.first(func(c *condition) bool {
		good := hasEnd(c.kind, "Ready", "Healthy", "Available", "Voter", "Scheduled")
		return c.isTrue() && !good || c.isFalse() && good && !strings.HasSuffix(c.kind, "Scheduled")
	})
	switch {
	case h.State == "":
		return notObserved()
	case h.State == Progressing:
		return degraded(h.Reason, h.Since)
	case h.State == OK && trouble.isTrue():
		return trouble.health(Degraded, trouble.kind)
	case h.State == OK && trouble.exists():
		return trouble.health(Progressing, "")
	case h.State == OK && o.At("spec", "unschedulable").IsTrue():
		return Health{State: Suspended, Reason: "SchedulingDisabled"}
	}
	return h
}

// signingRequest overrides the general rules because a request is done with its certificate alone.
func signingRequest(o *object) Health {
	approved := o.conditions.find("Approved")
	switch {
	case o.status.text("certificate") != "":
		return Declared(OK, "Issued", approved.since())
	case approved.isTrue():
		return progressing("NotIssued", approved.since())
	}
	return Health{State: Unknown}
}

// disruptionBudget overrides the general rules because its condition only says whether pods may be
// evicted.
func disruptionBudget(o *object) Health {
	allowed := o.conditions.find("DisruptionAllowed")
	healthy, found := o.status.number("currentHealthy")
	switch _, wanted, computed := o.counts(); {
	case allowed.reason == "SyncFailed":
		return allowed.health(Degraded, "")
	case !found || !computed:
		return notObserved()
	case healthy < wanted:
		return progressing("InsufficientPods", allowed.falseSince())
	}
	return ok()
}

// provisioning has the annotations that a claim gets before its volume is provisioned.
var provisioning = []string{
	"volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
}

// volumeClaim overrides the general rules because Pending may mean that no pod uses the claim yet, and because
// the resize of a bound claim may fail.
func volumeClaim(o *object) Health {
	h := o.byWord("phase")
	status := o.status.text("allocatedResourceStatuses", "storage")
	changing := o.conditions.first(func(c *condition) bool {
		return c.isTrue() && (c.kind == "Resizing" || c.kind == "FileSystemResizePending" || c.kind == "ModifyingVolume")
	})
	switch {
	case h.State == OK && strings.HasSuffix(status, "Infeasible"):
		return degraded(status, 0)
	case changing.exists():
		return changing.health(Progressing, changing.kind)
	case h.State == OK:
		return ok()
	case h.State == Unknown:
		return progressing(cmp.Or(h.Reason, "NotBound"), 0)
	case h.Reason != "Pending" || slices.ContainsFunc(provisioning, func(name string) bool { return o.text("metadata", "annotations", name) != "" }):
		return h
	}
	return Health{State: Unknown, Reason: "WaitForFirstConsumer"}
}

// serviceOrIngress overrides the general rules because Services and Ingresses have no condition, and an address
// says nothing about endpoints, which EndpointSlices report: the port of an Ingress may not exist.
func serviceOrIngress(o *object) Health {
	switch addressed := o.status.At("loadBalancer", "ingress").Len() > 0; {
	case addressed, o.kind.Kind == "Service" && o.text("spec", "type") != "LoadBalancer":
		return Health{State: Unknown}
	case o.kind.Kind == "Service":
		return progressing("NoAddress", 0)
	}
	return Health{State: Unknown, Reason: "NoAddress"} // many controllers never write the address
}

// headless is a label of the slices of a headless Service, which may have no ports.
const headless = "service.kubernetes.io/headless"

// endpointSlice overrides the general rules because the conditions of its endpoints are not lists. A
// slice without ports is not healthy: the Service names a port that its pods do not have.
func endpointSlice(o *object) Health {
	switch ready, wanted, _ := o.counts(); {
	case wanted == 0:
		return Health{State: Unknown, Reason: "NoEndpoints"}
	case ready == 0:
		return progressing("", 0)
	case o.At("ports").Len() == 0 && !o.At("metadata", "labels", headless).Exists():
		return progressing("NoPorts", 0)
	}
	return ok()
}

// hpaConditions is the annotation in which autoscaling/v1 has the conditions of its newer versions.
const hpaConditions = "autoscaling.alpha.kubernetes.io/conditions"

// autoscaler overrides the general rules because it has none of the usual conditions, and because the
// metrics of a new autoscaler take a while.
func autoscaler(o *object) Health {
	conditions := o.conditions
	text, _ := o.At("metadata", "annotations", hpaConditions).Text()
	if len(conditions) == 0 && len(text) > 0 && len(text) <= 16<<10 { // three conditions take a kilobyte
		read, _ := jsontree.Parse(slices.Concat([]byte(`{"status":{"conditions":`), text, []byte("}}")), Shape)
		conditions = conditionsAt(read.At("status"), 0)
	}
	able, active := conditions.find("AbleToScale"), conditions.find("ScalingActive")
	switch {
	case able.isFalse():
		return able.health(Degraded, "NotAbleToScale")
	case active.reason == "ScalingDisabled":
		return active.health(Suspended, "")
	case active.isFalse():
		return active.health(Progressing, "NotScalingActive")
	case able.isTrue():
		return able.health(OK, "")
	}
	return notObserved()
}
