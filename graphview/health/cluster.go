package health

import (
	"encoding/json"
	"strings"
)

// node overrides the general rules since a pressure is no failure by its name, and
// since a node that does not answer cannot say that it is on its way.
func node(o *object) Health {
	for _, pressure := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"} {
		if c, found := o.conditions.find(pressure); found && c.isTrue() {
			return degraded(pressure, c.since)
		}
	}
	c, found := o.conditions.find("Ready")
	switch {
	case !found:
		return Health{State: Unknown}
	case !c.isTrue():
		return degraded(orElse(c.reason, "NotReady"), c.since)
	case o.isTrue("spec", "unschedulable"):
		return Health{State: Suspended, Reason: "SchedulingDisabled"}
	}
	return Health{State: OK, Since: c.since}
}

// disruptionBudget overrides the general rules since its condition tells only whether a
// pod may be evicted now.
func disruptionBudget(o *object) Health {
	healthy, found := o.number("status", "currentHealthy")
	wanted, computed := o.number("status", "desiredHealthy")
	allowed, _ := o.conditions.find("DisruptionAllowed")
	switch {
	case allowed.reason == "SyncFailed":
		return degraded(allowed.reason, allowed.since)
	case !found || !computed:
		return progressing("NotObserved", 0)
	case healthy < wanted && allowed.status == "False":
		return progressing("InsufficientPods", allowed.since)
	case healthy < wanted:
		return progressing("InsufficientPods", 0)
	}
	return ok("")
}

// apiService overrides the general rules since an API that does not answer breaks
// discovery at once.
func apiService(o *object) Health {
	c, found := o.conditions.find("Available")
	switch {
	case !found:
		return progressing("NotObserved", 0)
	case c.isTrue():
		return Health{State: OK, Since: c.since}
	}
	return degraded(orElse(c.reason, "NotAvailable"), c.since)
}

// definition overrides the general rules since names that are not accepted fail
// whatever Established says.
func definition(o *object) Health {
	if c, found := o.conditions.find("NamesAccepted"); found && c.status == "False" {
		return degraded(c.reason, c.since)
	}
	c, found := o.conditions.find("Established")
	switch {
	case found && c.isTrue():
		return Health{State: OK, Since: c.since}
	case found && c.status == "False" && c.reason != "Installing":
		return degraded(c.reason, c.since)
	}
	return progressing("Installing", c.since)
}

// provisioning are the annotations that a claim gets when its volume is about to be
// made: by the scheduler, or by the controller of volumes.
var provisioning = []string{
	"volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
}

// claim overrides the general rules since Pending may mean that no pod uses the claim
// yet, and since a bound claim may fail to grow.
func claim(o *object) Health {
	switch phase := o.text("status", "phase"); phase {
	case "Bound":
		for _, kind := range []string{"Resizing", "FileSystemResizePending", "ModifyingVolume"} {
			if c, found := o.conditions.find(kind); found && c.isTrue() {
				return progressing(kind, c.since)
			}
		}
		if status := o.text("status", "allocatedResourceStatuses", "storage"); strings.HasSuffix(status, "Infeasible") {
			return degraded(status, 0)
		}
		return ok("")
	case "Lost":
		return degraded("Lost", 0)
	case "Pending":
		for _, name := range provisioning {
			if o.text("metadata", "annotations", name) != "" {
				return progressing(phase, 0)
			}
		}
		return Health{State: Unknown, Reason: "WaitForFirstConsumer"}
	default:
		return progressing(orElse(phase, "NotBound"), 0)
	}
}

// volume overrides the general rules since Released says nothing: the claim is deleted,
// and whether that was wanted is not known.
func volume(o *object) Health {
	switch phase := o.text("status", "phase"); phase {
	case "Bound", "Available":
		return ok(phase)
	case "Failed":
		return degraded(orElse(o.text("status", "reason"), phase), 0)
	case "Pending":
		return progressing(phase, 0)
	default:
		return Health{State: Unknown, Reason: word(phase)}
	}
}

// service overrides the general rules since it has no condition. Whether anything is
// behind a Service, its EndpointSlices say.
func service(o *object) Health {
	switch {
	case o.text("spec", "type") != "LoadBalancer":
		return Health{State: Unknown}
	case o.length("status", "loadBalancer", "ingress") == 0:
		return progressing("NoAddress", 0)
	}
	return ok("")
}

// endpointSlice overrides the general rules since its endpoints have conditions that
// are no list.
func endpointSlice(o *object) Health {
	switch ready, wanted, _ := o.endpoints(); {
	case wanted == 0:
		return Health{State: Unknown, Reason: "NoEndpoints"}
	case ready == 0:
		return progressing("", 0)
	}
	return ok("")
}

func (o *object) endpoints() (ready, wanted int64, counted bool) {
	o.each(func(e fields) bool {
		wanted++
		if !e.isFalse("conditions", "ready") { // absent counts as ready, by the API
			ready++
		}
		return true
	}, "endpoints")
	return ready, wanted, wanted > 0
}

// ingress overrides the general rules since many controllers never write an address:
// none says nothing.
func ingress(o *object) Health {
	if o.length("status", "loadBalancer", "ingress") == 0 {
		return Health{State: Unknown, Reason: "NoAddress"}
	}
	return ok("")
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
		return degraded(orElse(able.reason, "NotAbleToScale"), able.since)
	case active.reason == "ScalingDisabled":
		return Health{State: Suspended, Reason: active.reason, Since: active.since}
	case active.status == "False":
		return progressing(orElse(active.reason, "NotScalingActive"), active.since)
	case hasAble && able.isTrue():
		return Health{State: OK, Reason: word(able.reason), Since: able.since}
	}
	return progressing("NotObserved", 0)
}
