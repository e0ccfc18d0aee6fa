package health

// job overrides the general rules since a Job that runs has no condition, and may run
// for days.
func job(o *object) Health {
	if c, found := o.conditions.find("Complete"); found && c.isTrue() {
		return Health{State: OK, Reason: "Complete", Since: c.since}
	}
	started := seconds(o.text("status", "startTime"))
	if started == 0 {
		return progressing("JobNotStarted", 0)
	}
	return progressing("Running", started).endless()
}

func (o *object) completions() int64 {
	return o.numberOr(o.numberOr(1, "spec", "parallelism"), "spec", "completions")
}

// cronJob has no condition. Its last run failed if it is over and did not succeed. A
// run that goes on says nothing yet.
func cronJob(o *object) Health {
	scheduled, succeeded := seconds(o.text("status", "lastScheduleTime")), seconds(o.text("status", "lastSuccessfulTime"))
	if scheduled > succeeded && o.length("status", "active") == 0 {
		return degraded("LastRunFailed", scheduled)
	}
	return ok()
}
