package health

import "cmp"

var podKind = Kind{"", "Pod"}

// containerLists are the fields of the status with the states of containers.
var containerLists = []string{"initContainerStatuses", "containerStatuses"}

// pod overrides the general rules because its phase and Ready say less than its containers: a pod whose
// container cannot start is Pending for ever, and a container that ended does not matter in a pod that
// runs once, unless it failed and is not restarted.
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
		return readiness.health(Progressing, "NotReady").endless()
	case phase == "Running":
		return readiness.health(Progressing, "NotReady")
	}
	scheduled := o.conditions.find("PodScheduled")
	if !scheduled.isFalse() {
		return progressing(cmp.Or(all.waiting, "Pending"), scheduled.since())
	}
	h := scheduled.health(Progressing, "NotScheduled").endless()
	if scheduled.reason == "Unschedulable" && h.Since != 0 {
		h.Overdue = h.Since + 15 // seconds, as in kstatus
	}
	return h
}

// containers has, in each field, the value of the first container that has one.
type containers struct {
	// waiting is why a container does not run. stuck is the same, unless it is only being created.
	waiting, stuck string
	// failed is why a container ended with an error, restarted why its previous run did, if not ready.
	failed, restarted string
	done              bool // a container ended without an error
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

// endOf returns why a container ended with an error, and whether it ended without one.
func endOf(state fields) (failed string, done bool) {
	code, ended := state.number("terminated", "exitCode")
	if code != 0 {
		return cmp.Or(state.text("terminated", "reason"), "Error"), false
	}
	return "", ended
}
