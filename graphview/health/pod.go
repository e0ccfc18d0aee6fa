package health

import "strings"

var podKind = Kind{"", "Pod"}

// scheduleWindow is how many seconds a pod may be without a node before it counts
// as degraded. It is kstatus'.
const scheduleWindow = 15

// containerLists are where the states of containers are.
var containerLists = []string{"initContainerStatuses", "containerStatuses"}

// pod overrides the general rules since its phase and Ready say less than its
// containers: a pod whose container cannot start is Pending for ever.
func pod(o *object) Health {
	readiness, _ := o.conditions.find("Ready")
	phase := o.text("status", "phase")
	switch phase {
	case "Succeeded":
		return Health{State: OK, Reason: "Succeeded", Since: readiness.since}
	case "Failed":
		h := degraded(orElse(o.text("status", "reason"), orElse(o.container(failedState), "Failed")), readiness.since)
		h.Ended = true
		return h
	case "Unknown":
		return degraded("NodeLost", readiness.since)
	case "Running", "Pending":
	default:
		return progressing("NotObserved", 0)
	}
	if reason := o.container(stuckState); reason != "" {
		return degraded(reason, readiness.since)
	}
	if phase == "Running" {
		return o.running(readiness)
	}
	scheduled, found := o.conditions.find("PodScheduled")
	if found && scheduled.status == "False" {
		h := progressing(orElse(scheduled.reason, "NotScheduled"), scheduled.since).endless()
		if scheduled.reason == "Unschedulable" && scheduled.since != 0 {
			h.Overdue = scheduled.since + scheduleWindow
		}
		return h
	}
	return progressing(orElse(strings.TrimSpace(o.container(waitingState)), "Pending"), scheduled.since)
}

// running judges a pod in the phase Running. A container that ended is not ready, which
// is no trouble in a pod that runs once, unless it failed and is not started again.
func (o *object) running(readiness condition) Health {
	if readiness.isTrue() {
		return Health{State: OK, Since: readiness.since}
	}
	policy := o.text("spec", "restartPolicy")
	if reason := o.container(failedState); reason != "" && policy == "Never" {
		return degraded(reason, readiness.since)
	}
	done := policy != "Always" && policy != "" && o.container(doneState) != ""
	if reason := o.container(restartedState); reason != "" {
		return degraded(reason, readiness.since)
	}
	h := progressing(orElse(readiness.reason, "NotReady"), readiness.since)
	if done {
		h = h.endless()
	}
	return h
}

// container is what the first container says for which a state has a word.
func (o *object) container(state func(fields) string) string {
	found := ""
	for _, list := range containerLists {
		o.each(func(c fields) bool {
			found = state(c)
			return found == ""
		}, "status", list)
		if found != "" {
			break
		}
	}
	return found
}

// failedState is why a container ended with an error.
func failedState(c fields) string {
	if code, ended := c.number("state", "terminated", "exitCode"); !ended || code == 0 {
		return ""
	}
	return orElse(c.text("state", "terminated", "reason"), "Error")
}

// doneState is not empty for a container that ended without an error.
func doneState(c fields) string {
	if code, ended := c.number("state", "terminated", "exitCode"); !ended || code != 0 {
		return ""
	}
	return "Completed"
}

// restartedState is why a container ended before that is not ready again.
func restartedState(c fields) string {
	code, ended := c.number("lastState", "terminated", "exitCode")
	if c.isTrue("ready") || !ended || code == 0 || doneState(c) != "" {
		return ""
	}
	return orElse(c.text("lastState", "terminated", "reason"), "Error")
}

// starting are the reasons for which a container waits while its pod starts.
var starting = map[string]bool{"": true, "PodInitializing": true, "ContainerCreating": true}

// stuckState is why a container does not start.
func stuckState(c fields) string {
	if reason := waitingState(c); !starting[reason] {
		return reason
	}
	return ""
}

func waitingState(c fields) string { return c.text("state", "waiting", "reason") }

// containers are how many of a pod's containers are ready, of how many.
func (o *object) containers() (ready, wanted int64, counted bool) {
	o.each(func(c fields) bool {
		wanted++
		if c.isTrue("ready") {
			ready++
		}
		return true
	}, "status", "containerStatuses")
	return ready, wanted, wanted > 0
}
