package health

import "strings"

// phases are words that many projects use for the phase or state of an object, in
// lower case and without separators. Those that mean Suspended are also asked of the
// types of True conditions and of the reasons of False ones.
var phases = map[string]State{
	"active": OK, "available": OK, "bound": OK, "complete": OK, "completed": OK, "created": OK, "deployed": OK, "established": OK,
	"green": OK, "healthy": OK, "ok": OK, "omitted": OK, "provisioned": OK, "ready": OK, "running": OK, "skipped": OK, "success": OK,
	"succeeded": OK, "successful": OK, "synced": OK, "valid": OK,

	"creating": Progressing, "initializing": Progressing, "initialising": Progressing, "inprogress": Progressing, "installing": Progressing,
	"new": Progressing, "pending": Progressing, "processing": Progressing, "progressing": Progressing, "provisioning": Progressing,
	"queued": Progressing, "reconciling": Progressing, "requiresapproval": Progressing, "scaling": Progressing, "starting": Progressing,
	"submitted": Progressing, "updating": Progressing, "upgrading": Progressing, "waiting": Progressing, "yellow": Progressing,

	"aborted": Degraded, "blocked": Degraded, "cancelled": Degraded, "canceled": Degraded, "crashloopbackoff": Degraded, "degraded": Degraded,
	"error": Degraded, "errored": Degraded, "expired": Degraded, "failed": Degraded, "failing": Degraded, "failure": Degraded,
	"faulted": Degraded, "invalid": Degraded, "lost": Degraded, "notready": Degraded, "offline": Degraded, "partiallyfailed": Degraded,
	"red": Degraded, "rejected": Degraded, "timeout": Degraded, "unavailable": Degraded, "unhealthy": Degraded,

	"disabled": Suspended, "hibernated": Suspended, "paused": Suspended, "reconcilepaused": Suspended, "reconciliationpaused": Suspended,
	"scaledtozero": Suspended, "stopped": Suspended, "suspended": Suspended,

	"deleting": Terminating, "terminating": Terminating,

	"unknown": Unknown,
}

// ended are the reasons of an object that is not ready because it is done.
var ended = map[string]bool{"completed": true, "finished": true, "succeeded": true}

// phase judges by a word, first by the words of a project. It reports whether the word
// is known.
func (o *object) phase(text string, words map[string]State) (Health, bool) {
	key := plain(text)
	state, known := words[key]
	if !known {
		state, known = phases[key]
	}
	if !known {
		return Health{State: Unknown, Reason: word(text)}, false
	}
	if key == "running" && o.runsOnce() {
		state = Progressing
	}
	if state != Progressing {
		return Health{State: state, Reason: word(text)}, true
	}
	h := progressing(text, 0)
	if o.runsOnce() {
		h = h.endless()
	}
	return h, true
}

// plain is a word in lower case and without separators.
func plain(text string) string {
	if len(text) > maxReason {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-' || r == ' ':
			return -1
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, text)
}
