package health

import (
	"math"
	"time"
)

// step is a count in the status that has to reach the wanted number, and the reason until it does.
type step struct{ count, reason string }

// reached returns progressing until the counts are reached. Workloads have counts and no condition.
func (o *object) reached(wanted int64, steps ...step) Health {
	for _, s := range steps {
		if wanted > o.status.numberOr(0, s.count) {
			return progressing(s.reason, 0)
		}
	}
	if o.status.numberOr(0, "replicas") > wanted {
		return progressing("ScalingDown", 0)
	}
	return ok()
}

// deployment overrides the general rules because Available=False does not matter during a rollout, and
// because the Deployment has its own deadline.
func deployment(o *object) Health {
	// Without a deadline the controller writes no condition Progressing.
	deadline := o.numberOr(math.MaxInt32, "spec", "progressDeadlineSeconds")
	progress, available := o.conditions.find("Progressing"), o.conditions.find("Available")
	rolledOut := deadline == math.MaxInt32 || progress.isTrue() && progress.reason == "NewReplicaSetAvailable"
	h := o.reached(o.numberOr(1, "spec", "replicas"), step{"replicas", "ScalingUp"}, step{"updatedReplicas", "RollingOut"}, step{"readyReplicas", ""})
	switch {
	case progress.reason == "ProgressDeadlineExceeded":
		return degraded(progress.reason, progress.since())
	case !rolledOut: // the controller writes ProgressDeadlineExceeded in time
		return progressing("RollingOut", progress.since()).endless()
	case h.State == OK && available.isTrue() && o.status.numberOr(0, "updatedReplicas") <= o.status.numberOr(0, "availableReplicas"):
		return Declared(OK, "", available.since())
	case h.State == OK:
		h.Reason = "NotAvailable"
	}
	h = progressing(h.Reason, available.falseSince())
	if h.Since != 0 && deadline != math.MaxInt32 {
		h.Overdue = h.Since + max(deadline, int64(Patience/time.Second))
	}
	return h
}

// statefulSet overrides the general rules because it has no condition. Unlike in kstatus, its pods have
// to be ready with OnDelete too.
func statefulSet(o *object) Health {
	status, strategy := o.status, o.at("spec", "updateStrategy")
	wanted := o.numberOr(1, "spec", "replicas")
	partition, hasPartition := strategy.number("rollingUpdate", "partition")
	switch h := o.reached(wanted, step{"replicas", "ScalingUp"}, step{"readyReplicas", ""}); {
	case h.State != OK:
		return h
	case strategy.text("type") == "OnDelete":
	case hasPartition && status.numberOr(0, "updatedReplicas") >= wanted-partition:
	case hasPartition, wanted > status.numberOr(0, "currentReplicas"), status.text("currentRevision") != status.text("updateRevision"):
		return progressing("RollingOut", 0)
	}
	return ok()
}

// daemonSet overrides the general rules because it has no condition.
func daemonSet(o *object) Health {
	status := o.status
	wanted, found := status.number("desiredNumberScheduled")
	steps := []step{{"currentNumberScheduled", "ScalingUp"}, {"updatedNumberScheduled", "RollingOut"}, {"numberReady", ""}, {"numberAvailable", "NotAvailable"}}
	if o.text("spec", "updateStrategy", "type") == "OnDelete" {
		steps[1] = steps[0]
	}
	if !found || !status.At("observedGeneration").Exists() {
		return notObserved()
	}
	return o.reached(wanted, steps...)
}

// replicaSet overrides the general rules because it has no condition while all is well.
func replicaSet(o *object) Health {
	return o.reached(o.numberOr(1, "spec", "replicas"), step{"fullyLabeledReplicas", "ScalingUp"}, step{"readyReplicas", ""}, step{"availableReplicas", "NotAvailable"})
}

// job overrides the general rules because a running Job has no condition, and may run for days.
func job(o *object) Health {
	if c := o.conditions.find("Complete"); c.isTrue() {
		return Declared(OK, "Complete", c.since())
	}
	if started := o.status.seconds("startTime"); started != 0 {
		return progressing("Running", started).endless()
	}
	return progressing("JobNotStarted", 0)
}

func completions(o *object) (ready, wanted int64, counted bool) {
	return o.status.numberOr(0, "succeeded"), o.numberOr(o.numberOr(1, "spec", "parallelism"), "spec", "completions"), true
}

// cronJob has no condition. Its last run failed if it has ended without success. A run that has not
// ended says nothing yet.
func cronJob(o *object) Health {
	scheduled := o.status.seconds("lastScheduleTime")
	if scheduled > o.status.seconds("lastSuccessfulTime") && o.status.At("active").Len() == 0 {
		return degraded("LastRunFailed", scheduled)
	}
	return ok()
}
