package health

import "strings"

var podKind = Kind{"", "Pod"}

// scheduleWindow is how many seconds a pod may be without a node before it counts
// as degraded. It is kstatus'.
const scheduleWindow = 15

// pod follows kstatus, and says more of containers that wait: each reason but
// those of a start is trouble, not only CrashLoopBackOff.
func pod(f fields, conditions conditionsOf) Health {
	status := f.below("status")
	h := podState(status, conditions)
	var ready, wanted int64
	status.each(func(c fields) bool {
		wanted++
		if c.isTrue("ready") {
			ready++
		}
		return true
	}, "containerStatuses")
	if wanted == 0 {
		return h
	}
	return h.counted(ready, wanted)
}

func podState(status fields, conditions conditionsOf) Health {
	readiness, _ := conditions.find("Ready")
	switch status.text("phase") {
	case "Succeeded":
		return Health{State: OK, Reason: "Succeeded", Since: readiness.since}
	case "Failed":
		return Health{State: Degraded, Reason: failedPod(status), Since: readiness.since}
	case "Unknown":
		return Health{State: Degraded, Reason: "NodeLost", Since: readiness.since}
	case "Running", "Pending":
	default:
		return Health{State: Progressing, Reason: "NotObserved"}
	}
	if reason := stuckContainer(status); reason != "" {
		return Health{State: Degraded, Reason: word(reason), Since: readiness.since}
	}
	if status.text("phase") == "Running" {
		if readiness.isTrue() {
			return Health{State: OK, Since: readiness.since}
		}
		if reason := restartedContainer(status); reason != "" {
			return Health{State: Degraded, Reason: word(reason), Since: readiness.since}
		}
		return progressing(orElse(readiness.reason, "NotReady"), readiness.since)
	}
	scheduled, found := conditions.find("PodScheduled")
	if found && scheduled.status == "False" {
		h := Health{State: Progressing, Reason: word(orElse(scheduled.reason, "NotScheduled")), Since: scheduled.since}
		if scheduled.reason == "Unschedulable" && scheduled.since != 0 {
			h.Overdue = scheduled.since + scheduleWindow
		}
		return h
	}
	return progressing(orElse(waitingReason(status), "Pending"), scheduled.since)
}

// failedPod is why a pod failed.
func failedPod(status fields) string {
	if reason := status.text("reason"); reason != "" {
		return word(reason)
	}
	found := ""
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		status.each(func(c fields) bool {
			if code, ended := c.number("state", "terminated", "exitCode"); ended && code != 0 {
				found = orElse(c.text("state", "terminated", "reason"), "Error")
			}
			return found == ""
		}, list)
	}
	return word(orElse(found, "Failed"))
}

// starting are the reasons for which a container waits while its pod starts.
var starting = map[string]bool{"": true, "PodInitializing": true, "ContainerCreating": true}

// stuckContainer is why a container does not start, "" if none is stuck.
func stuckContainer(status fields) string {
	found := ""
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		status.each(func(c fields) bool {
			if reason := c.text("state", "waiting", "reason"); !starting[reason] {
				found = reason
			}
			return found == ""
		}, list)
	}
	return found
}

// restartedContainer is why a container that is not ready ended before.
func restartedContainer(status fields) string {
	found := ""
	status.each(func(c fields) bool {
		code, ended := c.number("lastState", "terminated", "exitCode")
		if !c.isTrue("ready") && ended && code != 0 {
			found = orElse(c.text("lastState", "terminated", "reason"), "Error")
		}
		return found == ""
	}, "containerStatuses")
	return found
}

// waitingReason is the reason for which the first container waits.
func waitingReason(status fields) string {
	found := ""
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		status.each(func(c fields) bool {
			found = c.text("state", "waiting", "reason")
			return found == ""
		}, list)
	}
	return strings.TrimSpace(found)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
