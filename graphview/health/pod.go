package health

import "cmp"

var podKind = Kind{"", "Pod"}

// containerLists are where the states of containers are.
var containerLists = []string{"initContainerStatuses", "containerStatuses"}

// pod overrides the general rules since its phase and Ready say less than its containers: a pod
// whose container cannot start is Pending for ever, and a container that ended is no trouble in a
// pod that runs once, unless it failed and is not started again.
func pod(o *object) Health {
	readiness := o.conditions.find("Ready")
	all, policy := o.containers(), o.text("spec", "restartPolicy")
	switch phase := o.status.text("phase"); {
	case phase == "Succeeded":
		return Declared(OK, "Succeeded", readiness.since())
	case phase == "Failed":
		h := degraded(cmp.Or(o.status.text("reason"), all.failed, "Failed"), readiness.since())
		h.Ended = true
		return h
	case phase == "Unknown":
		return degraded("NodeLost", readiness.since())
	case phase != "Running" && phase != "Pending":
		return notObserved()
	case all.stuck != "":
		return degraded(all.stuck, readiness.since())
	case phase == "Running" && readiness.isTrue():
		return Declared(OK, "", readiness.since())
	case phase == "Running" && all.failed != "" && policy == "Never":
		return degraded(all.failed, readiness.since())
	case phase == "Running" && all.restarted != "":
		return degraded(all.restarted, readiness.since())
	case phase == "Running" && all.done && policy != "Always" && policy != "":
		return readiness.says(Progressing, "NotReady").endless()
	case phase == "Running":
		return readiness.says(Progressing, "NotReady")
	}
	scheduled := o.conditions.find("PodScheduled")
	if !scheduled.isFalse() {
		return progressing(cmp.Or(all.waiting, "Pending"), scheduled.since())
	}
	h := scheduled.says(Progressing, "NotScheduled").endless()
	if scheduled.reason == "Unschedulable" && h.Since != 0 {
		h.Overdue = h.Since + 15 // seconds, as in kstatus
	}
	return h
}

// containers is what the first container says that says it.
type containers struct {
	// waiting is why it does not run, stuck if that does not pass by itself.
	waiting, stuck string
	// failed is why it ended with an error, restarted if it did so before and is not ready again.
	failed, restarted string
	done              bool // it ended without an error
}

func (o *object) containers() (all containers) {
	for _, list := range containerLists {
		for element := range o.status.At(list).Objects {
			c := fields{element}
			state := c.at("state")
			waiting := state.text("waiting", "reason")
			all.waiting = cmp.Or(all.waiting, waiting)
			if waiting != "PodInitializing" && waiting != "ContainerCreating" {
				all.stuck = cmp.Or(all.stuck, waiting)
			}
			failed, done := endOf(state)
			all.failed, all.done = cmp.Or(all.failed, failed), all.done || done
			if !done && !c.At("ready").IsTrue() {
				before, _ := endOf(c.at("lastState"))
				all.restarted = cmp.Or(all.restarted, before)
			}
		}
	}
	return all
}

// endOf is why a container ended with an error, or whether without one.
func endOf(state fields) (failed string, done bool) {
	code, ended := state.number("terminated", "exitCode")
	if code != 0 {
		return cmp.Or(state.text("terminated", "reason"), "Error"), false
	}
	return "", ended
}
