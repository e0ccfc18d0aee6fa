package health

import (
	"math"
	"time"
)

// deployment overrides the general rules since Available=False is no trouble during a
// rollout, and since the Deployment has a deadline of its own. It follows kstatus in
// which counts it compares.
func deployment(o *object) Health {
	spec, status := o.at("spec"), o.at("status")
	wanted := spec.numberOr(1, "replicas")
	replicas, updated := status.numberOr(0, "replicas"), status.numberOr(0, "updatedReplicas")
	ready, available := status.numberOr(0, "readyReplicas"), status.numberOr(0, "availableReplicas")
	// Without a deadline the controller writes no condition Progressing.
	deadline := spec.numberOr(math.MaxInt32, "progressDeadlineSeconds")
	progress, hasProgress := o.conditions.find("Progressing")
	availability, hasAvailability := o.conditions.find("Available")
	rolledOut := deadline == math.MaxInt32 || hasProgress && progress.isTrue() && progress.reason == "NewReplicaSetAvailable"
	var since int64 // of what is left to do after the rollout
	if hasAvailability && availability.status == "False" {
		since = availability.since
	}
	behind := func(after string) Health {
		if !rolledOut {
			// The controller writes ProgressDeadlineExceeded in time.
			return progressing("RollingOut", progress.since).endless()
		}
		h := progressing(after, since)
		if since != 0 && deadline != math.MaxInt32 {
			h.Overdue = since + max(deadline, int64(Patience/time.Second))
		}
		return h
	}
	switch {
	case hasProgress && progress.reason == "ProgressDeadlineExceeded":
		return degraded(progress.reason, progress.since)
	case wanted > replicas:
		return behind("ScalingUp")
	case wanted > updated:
		return behind("RollingOut")
	case replicas > wanted:
		return behind("ScalingDown")
	case wanted > ready:
		return behind("")
	case updated > available, !hasAvailability, !availability.isTrue():
		return behind("NotAvailable")
	case !rolledOut:
		return behind("")
	}
	return Health{State: OK, Since: availability.since}
}

// statefulSet overrides the general rules since it has no condition. It follows kstatus,
// except that the pods of a StatefulSet with OnDelete have to be ready as well.
func statefulSet(o *object) Health {
	spec, status := o.at("spec"), o.at("status")
	wanted := spec.numberOr(1, "replicas")
	replicas, updated := status.numberOr(0, "replicas"), status.numberOr(0, "updatedReplicas")
	partition, hasPartition := spec.number("updateStrategy", "rollingUpdate", "partition")
	switch {
	case wanted > replicas:
		return progressing("ScalingUp", 0)
	case wanted > status.numberOr(0, "readyReplicas"):
		return progressing("", 0)
	case replicas > wanted:
		return progressing("ScalingDown", 0)
	case spec.text("updateStrategy", "type") == "OnDelete":
		return ok()
	case hasPartition && updated < wanted-partition:
		return progressing("RollingOut", 0)
	case hasPartition:
		return ok()
	case wanted > status.numberOr(0, "currentReplicas"), status.text("currentRevision") != status.text("updateRevision"):
		return progressing("RollingOut", 0)
	}
	return ok()
}

// daemonSet overrides the general rules since it has no condition. It follows kstatus.
func daemonSet(o *object) Health {
	status := o.at("status")
	wanted, found := status.number("desiredNumberScheduled")
	_, observed := status.number("observedGeneration")
	switch {
	case !found || !observed:
		return progressing("NotObserved", 0)
	case wanted > status.numberOr(0, "currentNumberScheduled"):
		return progressing("ScalingUp", 0)
	case wanted > status.numberOr(0, "updatedNumberScheduled") && o.text("spec", "updateStrategy", "type") != "OnDelete":
		return progressing("RollingOut", 0)
	case wanted > status.numberOr(0, "numberReady"):
		return progressing("", 0)
	case wanted > status.numberOr(0, "numberAvailable"):
		return progressing("NotAvailable", 0)
	}
	return ok()
}

// replicaSet overrides the general rules since it has no condition while all is well.
// It follows kstatus.
func replicaSet(o *object) Health {
	status := o.at("status")
	wanted := o.numberOr(1, "spec", "replicas")
	switch {
	case wanted > status.numberOr(0, "fullyLabeledReplicas"):
		return progressing("ScalingUp", 0)
	case wanted > status.numberOr(0, "readyReplicas"):
		return progressing("", 0)
	case wanted > status.numberOr(0, "availableReplicas"):
		return progressing("NotAvailable", 0)
	case status.numberOr(0, "replicas") > wanted:
		return progressing("ScalingDown", 0)
	}
	return ok()
}
