package health

// job follows kstatus; a job that is suspended says so in a condition.
func job(f fields, conditions conditionsOf) Health {
	wanted := f.numberOr(f.numberOr(1, "spec", "parallelism"), "spec", "completions")
	succeeded := f.numberOr(0, "status", "succeeded")
	var h Health
	if c, found := conditions.find("Failed"); found && c.isTrue() {
		h = Health{State: Degraded, Reason: word(orElse(c.reason, "JobFailed")), Since: c.since}
	} else if c, found := conditions.find("FailureTarget"); found && c.isTrue() {
		h = Health{State: Degraded, Reason: word(orElse(c.reason, "JobFailed")), Since: c.since}
	} else if c, found := conditions.find("Complete"); found && c.isTrue() {
		h = Health{State: OK, Reason: "Complete", Since: c.since}
	} else if c, found := conditions.find("Suspended"); found && c.isTrue() {
		h = Health{State: Suspended, Reason: "Suspended", Since: c.since}
	} else if started := f.text("status", "startTime"); started == "" {
		h = Health{State: Progressing, Reason: "JobNotStarted"}
	} else {
		// A job may run for days: that is no reason to call it degraded.
		h = Health{State: Progressing, Reason: "Running", Since: seconds(started)}
	}
	return h.counted(succeeded, wanted)
}

// cronJob is a schedule: it is as it should be unless it is suspended, and the
// jobs that it makes say how they are.
func cronJob(fields, conditionsOf) Health { return ok("") }
