package health

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// node overrides the general rules since a node that does not answer cannot say that it is
// on its way.
func node(o *object) Health {
	switch h, found := o.readiness("Ready"); {
	case !found:
		return progressing("NotObserved", 0)
	case h.State == Progressing:
		return degraded(h.Reason, h.Since)
	case h.State == OK && o.isTrue("spec", "unschedulable"):
		return Health{State: Suspended, Reason: "SchedulingDisabled"}
	default:
		return h
	}
}

// disruptionBudget overrides the general rules since its condition tells only whether a
// pod may be evicted now.
func disruptionBudget(o *object) Health {
	healthy, found := o.number("status", "currentHealthy")
	wanted, computed := o.number("status", "desiredHealthy")
	allowed, _ := o.conditions.find("DisruptionAllowed")
	switch {
	case allowed.reason == "SyncFailed":
		return degraded(allowed.reason, allowed.since())
	case !found || !computed:
		return progressing("NotObserved", 0)
	case healthy < wanted && allowed.status == "False":
		return progressing("InsufficientPods", allowed.since())
	case healthy < wanted:
		return progressing("InsufficientPods", 0)
	}
	return ok()
}

// provisioning are the annotations that a claim gets when its volume is about to be
// made: by the scheduler, or by the controller of volumes.
var provisioning = []string{
	"volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
}

// claim overrides the general rules since Pending may mean that no pod uses the claim
// yet, and since a bound claim may fail to grow.
func claim(o *object) Health {
	bound := &project{busy: []string{"Resizing", "FileSystemResizePending", "ModifyingVolume"}, path: statusPhase}
	h := bound.of(o)
	status := o.text("status", "allocatedResourceStatuses", "storage")
	switch {
	case h.State == OK && strings.HasSuffix(status, "Infeasible"):
		return degraded(status, 0)
	case h.State == OK:
		return ok()
	case h.State == Unknown:
		return progressing(cmp.Or(h.Reason, "NotBound"), 0)
	case h.Reason != "Pending" || slices.ContainsFunc(provisioning, func(name string) bool { return o.text("metadata", "annotations", name) != "" }):
		return h
	}
	return Health{State: Unknown, Reason: "WaitForFirstConsumer"}
}

// balanced overrides the general rules since Services and Ingresses have no condition, and an address
// says nothing of what is behind it: the port that an Ingress names may not exist. EndpointSlices do.
func balanced(o *object) Health {
	switch addressed := o.length("status", "loadBalancer", "ingress") > 0; {
	case addressed, o.kind.Kind == "Service" && o.text("spec", "type") != "LoadBalancer":
		return Health{State: Unknown}
	case o.kind.Kind == "Service":
		return progressing("NoAddress", 0)
	}
	return Health{State: Unknown, Reason: "NoAddress"} // which many controllers never write
}

// headless is a label of the slices of a headless Service, which may have no ports.
const headless = "service.kubernetes.io/headless"

// endpointSlice overrides the general rules since its endpoints have conditions that are no list. A
// slice without ports is not healthy: the Service names a port that its pods do not have.
func endpointSlice(o *object) Health {
	switch ready, wanted, _ := o.counts(); {
	case wanted == 0:
		return Health{State: Unknown, Reason: "NoEndpoints"}
	case ready == 0:
		return progressing("", 0)
	case o.length("ports") == 0 && !o.has("metadata", "labels", headless):
		return progressing("NoPorts", 0)
	}
	return ok()
}

// hpaConditions is the annotation in which autoscaling/v1 has the conditions of
// its newer versions.
const hpaConditions = "autoscaling.alpha.kubernetes.io/conditions"

// maxHPAConditions is how long they may be; three of them take a kilobyte.
const maxHPAConditions = 16 << 10

// autoscaler overrides the general rules since its conditions are none of the usual
// ones, and since the metrics of a new autoscaler take a while.
func autoscaler(o *object) Health {
	conditions := o.conditions
	if text := o.text("metadata", "annotations", hpaConditions); len(conditions) == 0 && text != "" && len(text) <= maxHPAConditions {
		var list []any
		if json.Unmarshal([]byte(text), &list) == nil {
			conditions = conditionsAt(fields{tree: map[string]any{"conditions": list}}, 0, "conditions")
		}
	}
	able, hasAble := conditions.find("AbleToScale")
	active, _ := conditions.find("ScalingActive")
	switch {
	case able.status == "False":
		return degraded(cmp.Or(able.reason, "NotAbleToScale"), able.since())
	case active.reason == "ScalingDisabled":
		return Health{State: Suspended, Reason: active.reason, Since: active.since()}
	case active.status == "False":
		return progressing(cmp.Or(active.reason, "NotScalingActive"), active.since())
	case hasAble && able.isTrue():
		return Health{State: OK, Reason: word(able.reason), Since: able.since()}
	}
	return progressing("NotObserved", 0)
}
