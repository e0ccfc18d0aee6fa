package health

import "cmp"

var podKind = Kind{"", "Pod"}

// scheduleWindow is how many seconds a pod may be without a node before it counts as degraded. It is
// kstatus'.
const scheduleWindow = 15

// containerLists are where the states of containers are.
var containerLists = []string{"initContainerStatuses", "containerStatuses"}

// pod overrides the general rules since its phase and Ready say less than its containers: a pod
// whose container cannot start is Pending for ever.
func pod(o *object) Health {
	readiness, _ := o.conditions.find("Ready")
	phase := o.status.text("phase")
	switch phase {
	case "Succeeded":
		return Health{State: OK, Reason: "Succeeded", Since: readiness.since()}
	case "Failed":
		h := degraded(cmp.Or(o.status.text("reason"), cmp.Or(o.container(failedState), "Failed")), readiness.since())
		h.Ended = true
		return h
	case "Unknown":
		return degraded("NodeLost", readiness.since())
	case "Running", "Pending":
	default:
		return progressing("NotObserved", 0)
	}
	if reason := o.container(stuckState); reason != "" {
		return degraded(reason, readiness.since())
	}
	scheduled, _ := o.conditions.find("PodScheduled")
	switch {
	case phase == "Running":
		return o.running(readiness)
	case scheduled.status != "False":
		return progressing(cmp.Or(o.container(waitingState), "Pending"), scheduled.since())
	}
	h := progressing(cmp.Or(scheduled.reason, "NotScheduled"), scheduled.since()).endless()
	if scheduled.reason == "Unschedulable" && h.Since != 0 {
		h.Overdue = h.Since + scheduleWindow
	}
	return h
}

// running judges a pod in the phase Running. A container that ended is not ready, which is no
// trouble in a pod that runs once, unless it failed and is not started again.
func (o *object) running(readiness condition) Health {
	policy := o.text("spec", "restartPolicy")
	if readiness.isTrue() {
		return Health{State: OK, Since: readiness.since()}
	}
	if reason := o.container(failedState); reason != "" && policy == "Never" {
		return degraded(reason, readiness.since())
	}
	if reason := o.container(restartedState); reason != "" {
		return degraded(reason, readiness.since())
	}
	h := progressing(cmp.Or(readiness.reason, "NotReady"), readiness.since())
	if policy != "Always" && policy != "" && o.container(doneState) != "" {
		h = h.endless()
	}
	return h
}

// container is what the first container says for which a state has a word.
func (o *object) container(state func(fields) string) (found string) {
	for _, list := range containerLists {
		o.status.each(func(c fields) bool {
			found = state(c)
			return found == ""
		}, list)
		if found != "" {
			break
		}
	}
	return found
}

// endOf is why a container ended: in failed if with an error, in done if without one.
func endOf(c fields, state string) (failed, done string) {
	switch code, ended := c.number(state, "terminated", "exitCode"); {
	case ended && code != 0:
		return cmp.Or(c.text(state, "terminated", "reason"), "Error"), ""
	case ended:
		return "", "Completed"
	}
	return "", ""
}

func failedState(c fields) string {
	failed, _ := endOf(c, "state")
	return failed
}

func doneState(c fields) string {
	_, done := endOf(c, "state")
	return done
}

// restartedState is why a container ended before that is not ready again.
func restartedState(c fields) string {
	if c.isTrue("ready") || doneState(c) != "" {
		return ""
	}
	failed, _ := endOf(c, "lastState")
	return failed
}

// stuckState is why a container does not start.
func stuckState(c fields) string {
	switch reason := waitingState(c); reason {
	case "PodInitializing", "ContainerCreating":
		return ""
	default:
		return reason
	}
}

func waitingState(c fields) string { return c.text("state", "waiting", "reason") }
