package graphview

import (
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/intake"
)

// Health counts visible objects by health; see the package health.
type Health struct {
	OK, Progressing, Degraded, Suspended, Terminating, Unknown int
}

func healthOf(classes [graph.Classes]int) Health {
	return Health{
		OK: classes[intake.ClassOK], Progressing: classes[intake.ClassProgressing], Degraded: classes[intake.ClassDegraded],
		Suspended: classes[intake.ClassSuspended], Terminating: classes[intake.ClassTerminating], Unknown: classes[intake.ClassUnknown],
	}
}

func (h *Health) add(other Health) {
	h.OK += other.OK
	h.Progressing += other.Progressing
	h.Degraded += other.Degraded
	h.Suspended += other.Suspended
	h.Terminating += other.Terminating
	h.Unknown += other.Unknown
}

func (h Health) byState() map[health.State]int {
	return map[health.State]int{
		health.OK: h.OK, health.Progressing: h.Progressing, health.Degraded: h.Degraded,
		health.Suspended: h.Suspended, health.Terminating: h.Terminating, health.Unknown: h.Unknown,
	}
}

// healthCounts returns the health of the objects of a served view, and the number of references whose
// target does not exist.
func (v *View) healthCounts() (Health, int) {
	v.mu.Lock()
	unserved := v.program == nil || v.limit != nil
	v.mu.Unlock()
	lens := v.publisher.Lens()
	if lens == nil || unserved {
		return Health{}, 0
	}
	if !v.filled.Load() {
		return healthOf(lens.Classes()), 0 // targets may be on their way
	}
	return healthOf(lens.Classes()), lens.Missing()
}
