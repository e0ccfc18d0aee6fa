package health

import (
	"math"
	"time"
)

// step is a count of the status that has to reach what is wanted, and the reason until it does.
type step struct{ count, reason string }

// behind is the reason of the first step that is behind, and whether one is: as in kstatus, each
// workload has counts in place of a condition.
func (o *object) behind(wanted int64, steps ...step) (reason string, found bool) {
	for _, s := range steps {
		if wanted > o.status.numberOr(0, s.count) {
			return s.reason, true
		}
	}
	return "ScalingDown", o.status.numberOr(0, "replicas") > wanted
}

// deployment overrides the general rules since Available=False is no trouble during a rollout, and
// since the Deployment has a deadline of its own.
func deployment(o *object) Health {
	// Without a deadline the controller writes no condition Progressing.
	deadline := o.numberOr(math.MaxInt32, "spec", "progressDeadlineSeconds")
	progress, _ := o.conditions.find("Progressing")
	available, _ := o.conditions.find("Available")
	rolledOut := deadline == math.MaxInt32 || progress.isTrue() && progress.reason == "NewReplicaSetAvailable"
	reason, behind := o.behind(o.numberOr(1, "spec", "replicas"), step{"replicas", "ScalingUp"}, step{"updatedReplicas", "RollingOut"}, step{"readyReplicas", ""})
	switch {
	case progress.reason == "ProgressDeadlineExceeded":
		return degraded(progress.reason, progress.since())
	case !rolledOut: // the controller writes ProgressDeadlineExceeded in time
		return progressing("RollingOut", progress.since()).endless()
	case !behind && available.isTrue() && o.status.numberOr(0, "updatedReplicas") <= o.status.numberOr(0, "availableReplicas"):
		return Health{State: OK, Since: available.since()}
	case !behind:
		reason = "NotAvailable"
	}
	if available.status != "False" {
		return progressing(reason, 0)
	}
	h := progressing(reason, available.since())
	if h.Since != 0 && deadline != math.MaxInt32 {
		h.Overdue = h.Since + max(deadline, int64(Patience/time.Second))
	}
	return h
}

// statefulSet overrides the general rules since it has no condition. Unlike in kstatus, the pods of
// one with OnDelete have to be ready as well.
func statefulSet(o *object) Health {
	status, strategy := o.status, o.at("spec", "updateStrategy")
	wanted := o.numberOr(1, "spec", "replicas")
	partition, hasPartition := strategy.number("rollingUpdate", "partition")
	reason, behind := o.behind(wanted, step{"replicas", "ScalingUp"}, step{"readyReplicas", ""})
	switch {
	case behind:
		return progressing(reason, 0)
	case strategy.text("type") == "OnDelete":
	case hasPartition && status.numberOr(0, "updatedReplicas") >= wanted-partition:
	case hasPartition, wanted > status.numberOr(0, "currentReplicas"), status.text("currentRevision") != status.text("updateRevision"):
		return progressing("RollingOut", 0)
	}
	return ok()
}

// daemonSet overrides the general rules since it has no condition.
func daemonSet(o *object) Health {
	status := o.status
	wanted, found := status.number("desiredNumberScheduled")
	steps := []step{{"currentNumberScheduled", "ScalingUp"}, {"updatedNumberScheduled", "RollingOut"}, {"numberReady", ""}, {"numberAvailable", "NotAvailable"}}
	if o.text("spec", "updateStrategy", "type") == "OnDelete" {
		steps[1] = steps[0]
	}
	reason, behind := o.behind(wanted, steps...)
	switch {
	case !found || !status.has("observedGeneration"):
		return progressing("NotObserved", 0)
	case behind:
		return progressing(reason, 0)
	}
	return ok()
}

// replicaSet overrides the general rules since it has no condition while all is well.
func replicaSet(o *object) Health {
	reason, behind := o.behind(o.numberOr(1, "spec", "replicas"), step{"fullyLabeledReplicas", "ScalingUp"}, step{"readyReplicas", ""}, step{"availableReplicas", "NotAvailable"})
	if behind {
		return progressing(reason, 0)
	}
	return ok()
}

// job overrides the general rules since a Job that runs has no condition, and may run for days.
func job(o *object) Health {
	if c, _ := o.conditions.find("Complete"); c.isTrue() {
		return Health{State: OK, Reason: "Complete", Since: c.since()}
	}
	started := seconds(o.text("status", "startTime"))
	if started == 0 {
		return progressing("JobNotStarted", 0)
	}
	return progressing("Running", started).endless()
}

// cronJob has no condition. Its last run failed if it is over and did not succeed. A run that goes
// on says nothing yet.
func cronJob(o *object) Health {
	scheduled, succeeded := seconds(o.text("status", "lastScheduleTime")), seconds(o.text("status", "lastSuccessfulTime"))
	if scheduled > succeeded && o.length("status", "active") == 0 {
		return degraded("LastRunFailed", scheduled)
	}
	return ok()
}
