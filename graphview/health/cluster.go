package health

import "encoding/json"

// node is ready or not, and suspended while nothing may be scheduled on it.
func node(f fields, conditions conditionsOf) Health {
	for _, pressure := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"} {
		if c, found := conditions.find(pressure); found && c.isTrue() {
			return Health{State: Degraded, Reason: pressure, Since: c.since}
		}
	}
	c, found := conditions.find("Ready")
	switch {
	case !found:
		return Health{State: Unknown}
	case !c.isTrue():
		return Health{State: Degraded, Reason: word(orElse(c.reason, "NotReady")), Since: c.since}
	case f.isTrue("spec", "unschedulable"):
		return Health{State: Suspended, Reason: "SchedulingDisabled"}
	}
	return Health{State: OK, Since: c.since}
}

func namespace(f fields, conditions conditionsOf) Health {
	for _, c := range conditions {
		if c.isTrue() && failure(c.kind) { // such as NamespaceDeletionDiscoveryFailure
			return Health{State: Degraded, Reason: word(c.kind), Since: c.began()}
		}
	}
	return phase(f.text("status", "phase"), phases)
}

// disruptionBudget is too strict while it has fewer healthy pods than it wants.
// kstatus never says so.
func disruptionBudget(f fields, conditions conditionsOf) Health {
	healthy, found := f.number("status", "currentHealthy")
	wanted, computed := f.number("status", "desiredHealthy")
	if c, there := conditions.find("DisruptionAllowed"); there && c.reason == "SyncFailed" {
		return Health{State: Degraded, Reason: c.reason, Since: c.since}
	}
	if !found || !computed {
		return Health{State: Progressing, Reason: "NotObserved"}
	}
	h := ok("")
	if healthy < wanted {
		h = degraded("InsufficientPods")
	}
	return h.counted(healthy, wanted)
}

// apiService follows Argo CD, but that a service which is not available is no
// progress: aggregation retries for ever.
func apiService(_ fields, conditions conditionsOf) Health {
	c, found := conditions.find("Available")
	switch {
	case !found:
		return Health{State: Progressing, Reason: "NotObserved"}
	case c.isTrue():
		return Health{State: OK, Since: c.since}
	}
	return Health{State: Degraded, Reason: word(orElse(c.reason, "NotAvailable")), Since: c.since}
}

// definition follows kstatus.
func definition(_ fields, conditions conditionsOf) Health {
	if c, found := conditions.find("NamesAccepted"); found && c.status == "False" {
		return Health{State: Degraded, Reason: word(c.reason), Since: c.since}
	}
	c, found := conditions.find("Established")
	switch {
	case found && c.isTrue():
		return Health{State: OK, Since: c.since}
	case found && c.status == "False" && c.reason != "Installing":
		return Health{State: Degraded, Reason: word(c.reason), Since: c.since}
	}
	return progressing("Installing", c.since)
}

// claim is bound or waits. A claim that nobody mounts may wait for ever.
func claim(f fields, _ conditionsOf) Health {
	switch text := f.text("status", "phase"); text {
	case "Bound":
		return ok("")
	case "Lost":
		return degraded("Lost")
	default:
		return Health{State: Progressing, Reason: word(orElse(text, "NotBound"))}
	}
}

func volume(f fields, _ conditionsOf) Health {
	switch text := f.text("status", "phase"); text {
	case "Bound", "Available":
		return ok(text)
	case "Failed":
		return degraded(orElse(f.text("status", "reason"), text))
	case "Pending":
		return Health{State: Progressing, Reason: text}
	default: // Released: the claim is gone, and whether that is wanted is not known
		return Health{State: Unknown, Reason: word(text)}
	}
}

// service waits for the address of its load balancer, as Argo CD says.
func service(f fields, _ conditionsOf) Health {
	if f.text("spec", "type") == "LoadBalancer" && f.length("status", "loadBalancer", "ingress") == 0 {
		return Health{State: Progressing, Reason: "NoAddress"}
	}
	return ok("")
}

// ingress has an address or has none. Many controllers never write one, so none
// says nothing.
func ingress(f fields, _ conditionsOf) Health {
	if f.length("status", "loadBalancer", "ingress") == 0 {
		return Health{State: Unknown, Reason: "NoAddress"}
	}
	return ok("")
}

// hpaConditions is the annotation in which autoscaling/v1 has the conditions of
// its newer versions.
const hpaConditions = "autoscaling.alpha.kubernetes.io/conditions"

// maxHPAConditions is how long they may be; three of them take a kilobyte.
const maxHPAConditions = 16 << 10

// autoscaler follows Argo CD: a metric or a scale that cannot be had is trouble.
func autoscaler(f fields, conditions conditionsOf) Health {
	if text := f.text("metadata", "annotations", hpaConditions); len(conditions) == 0 && text != "" && len(text) <= maxHPAConditions {
		var list []any
		if json.Unmarshal([]byte(text), &list) == nil {
			conditions = conditionsAt(fields{tree: map[string]any{"conditions": list}}, "conditions")
		}
	}
	if len(conditions) == 0 {
		return Health{State: Progressing, Reason: "NotObserved"}
	}
	for _, kind := range []string{"AbleToScale", "ScalingActive"} {
		c, found := conditions.find(kind)
		if found && c.status == "False" && c.reason != "ScalingDisabled" {
			return Health{State: Degraded, Reason: word(orElse(c.reason, "Not"+kind)), Since: c.since}
		}
		if found && c.reason == "ScalingDisabled" {
			return Health{State: Suspended, Reason: c.reason, Since: c.since}
		}
	}
	if c, found := conditions.find("AbleToScale"); found && c.isTrue() {
		return Health{State: OK, Reason: word(c.reason), Since: c.since}
	}
	return Health{State: Progressing, Reason: "WaitingToAutoscale"}
}
