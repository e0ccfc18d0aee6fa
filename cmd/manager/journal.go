package main

import (
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/quarantine"
)

// openJournal opens the journal in --state-dir, and says what it refuses. An
// operator without one is better than none.
func openJournal(dir string, log logr.Logger) *quarantine.Journal {
	if dir == "" {
		return nil
	}
	log = log.WithName("quarantine")
	journal, err := quarantine.Open(dir, time.Now())
	if err != nil {
		log.Error(err, "What ends the operator will be tried again: --state-dir cannot be used")
		return nil
	}
	for _, r := range journal.Refusals() {
		log.Info("Refused, because it ended the operator", "kind", r.Work.Kind, "namespace", r.Work.Namespace, "name", r.Work.Name, "since", r.At)
	}
	return journal
}

// closeJournal says that the process ends in order: what is still under way is not to
// blame for that.
func closeJournal(journal *quarantine.Journal, log logr.Logger) {
	if err := journal.Close(); err != nil {
		log.Error(err, "The journal of what is being done was not closed")
	}
}
