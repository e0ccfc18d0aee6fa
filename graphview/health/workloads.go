package health

import "math"

// deployment follows kstatus, but for two kinds of trouble that kstatus calls
// progress: replicas that cannot be made, and too few of them after the rollout.
func deployment(f fields, conditions conditionsOf) Health {
	spec, status := f.below("spec"), f.below("status")
	wanted := spec.numberOr(1, "replicas")
	replicas, updated := status.numberOr(0, "replicas"), status.numberOr(0, "updatedReplicas")
	ready, available := status.numberOr(0, "readyReplicas"), status.numberOr(0, "availableReplicas")

	progress, hasProgress := conditions.find("Progressing")
	failed, hasFailed := conditions.find("ReplicaFailure")
	availability, hasAvailability := conditions.find("Available")
	rolledOut := hasProgress && progress.isTrue() && progress.reason == "NewReplicaSetAvailable"
	// Without a deadline the controller writes no such condition.
	if spec.numberOr(math.MaxInt32, "progressDeadlineSeconds") == math.MaxInt32 {
		rolledOut = true
	}
	since := progress.since
	var h Health
	switch {
	case hasProgress && progress.reason == "ProgressDeadlineExceeded":
		h = Health{State: Degraded, Reason: progress.reason, Since: since}
	case hasFailed && failed.isTrue():
		h = Health{State: Degraded, Reason: word(orElse(failed.reason, "ReplicaFailure")), Since: failed.since}
	case hasProgress && rolledOut && hasAvailability && availability.status == "False" && updated >= wanted:
		h = Health{State: Degraded, Reason: word(orElse(availability.reason, "NotAvailable")), Since: availability.since}
	case wanted > replicas:
		h = progressing("LessReplicas", since)
	case wanted > updated:
		h = progressing("LessUpdated", since)
	case replicas > wanted:
		h = progressing("ExtraPods", since)
	case updated > available:
		h = progressing("LessAvailable", since)
	case wanted > ready:
		h = progressing("LessReady", since)
	case !rolledOut:
		h = progressing("ReplicaSetNotAvailable", since)
	case !hasAvailability || !availability.isTrue():
		h = progressing("DeploymentNotAvailable", availability.since)
	default:
		h = Health{State: OK, Since: availability.since}
	}
	if h.State == Progressing && spec.numberOr(math.MaxInt32, "progressDeadlineSeconds") != math.MaxInt32 && !rolledOut {
		h.Overdue = 0 // the Deployment has a deadline of its own
	}
	return h.counted(ready, wanted)
}

// statefulSet follows kstatus, but for the strategy OnDelete: its pods have to be
// ready as well.
func statefulSet(f fields, _ conditionsOf) Health {
	spec, status := f.below("spec"), f.below("status")
	wanted := spec.numberOr(1, "replicas")
	replicas, ready := status.numberOr(0, "replicas"), status.numberOr(0, "readyReplicas")
	updated := status.numberOr(0, "updatedReplicas")
	partition, hasPartition := spec.number("updateStrategy", "rollingUpdate", "partition")
	var h Health
	switch {
	case wanted > replicas:
		h = progressing("LessReplicas", 0)
	case wanted > ready:
		h = progressing("LessReady", 0)
	case replicas > wanted:
		h = progressing("ExtraPods", 0)
	case spec.text("updateStrategy", "type") == "OnDelete":
		h = ok("")
	case hasPartition && updated < wanted-partition:
		h = progressing("PartitionRollout", 0)
	case hasPartition:
		h = ok("")
	case wanted > status.numberOr(0, "currentReplicas"):
		h = progressing("LessCurrent", 0)
	case status.text("currentRevision") != status.text("updateRevision"):
		h = progressing("RevisionMismatch", 0)
	default:
		h = ok("")
	}
	return h.counted(ready, wanted)
}

// daemonSet follows kstatus.
func daemonSet(f fields, _ conditionsOf) Health {
	status := f.below("status")
	wanted, found := status.number("desiredNumberScheduled")
	_, observed := status.number("observedGeneration")
	if !found || !observed {
		return Health{State: Progressing, Reason: "NoDesiredNumber"}
	}
	ready := status.numberOr(0, "numberReady")
	var h Health
	switch {
	case wanted > status.numberOr(0, "currentNumberScheduled"):
		h = progressing("LessCurrent", 0)
	case wanted > status.numberOr(0, "updatedNumberScheduled") && f.text("spec", "updateStrategy", "type") != "OnDelete":
		h = progressing("LessUpdated", 0)
	case wanted > status.numberOr(0, "numberAvailable"):
		h = progressing("LessAvailable", 0)
	case wanted > ready:
		h = progressing("LessReady", 0)
	default:
		h = ok("")
	}
	return h.counted(ready, wanted)
}

// replicaSet follows kstatus, but that replicas which cannot be made are no
// progress.
func replicaSet(f fields, conditions conditionsOf) Health {
	status := f.below("status")
	wanted := f.numberOr(1, "spec", "replicas")
	ready := status.numberOr(0, "readyReplicas")
	var h Health
	switch c, failed := conditions.find("ReplicaFailure"); {
	case failed && c.isTrue():
		h = Health{State: Degraded, Reason: word(orElse(c.reason, "ReplicaFailure")), Since: c.since}
	case wanted > status.numberOr(0, "fullyLabeledReplicas"):
		h = progressing("LessLabelled", 0)
	case wanted > status.numberOr(0, "availableReplicas"):
		h = progressing("LessAvailable", 0)
	case wanted > ready:
		h = progressing("LessReady", 0)
	case status.numberOr(0, "replicas") > wanted:
		h = progressing("ExtraPods", 0)
	default:
		h = ok("")
	}
	return h.counted(ready, wanted)
}
