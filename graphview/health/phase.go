package health

import "strings"

// phases are words that many projects use for the phase or state of an object, in
// lower case and without separators. Those that mean Suspended are also asked of the
// types of True conditions and of the reasons of False ones. Words that name a failure or
// end in -ing speak for themselves.
var phases = map[string]State{
	"active": OK, "atlatestknown": OK, "available": OK, "bound": OK, "complete": OK, "completed": OK, "created": OK, "deployed": OK, "enabled": OK,
	"established": OK, "green": OK, "healthok": OK, "healthy": OK, "normal": OK, "ok": OK, "omitted": OK, "provisioned": OK, "ready": OK,
	"running": OK, "skipped": OK, "stable": OK, "success": OK, "succeeded": OK, "successful": OK, "synced": OK, "valid": OK,

	"bootstrap": Progressing, "inprogress": Progressing, "new": Progressing, "queued": Progressing, "requiresapproval": Progressing,
	"submitted": Progressing, "yellow": Progressing,

	"blocked": Degraded, "cancelled": Degraded, "canceled": Degraded, "faulted": Degraded, "healtherr": Degraded, "healthwarn": Degraded,
	"lost": Degraded, "notready": Degraded, "offline": Degraded, "red": Degraded, "timeout": Degraded, "unavailable": Degraded,

	"disabled": Suspended, "hibernated": Suspended, "paused": Suspended, "scaledtozero": Suspended, "stopped": Suspended, "suspended": Suspended,

	"deleting": Terminating, "terminating": Terminating,

	"unknown": Unknown,
}

// stops reports whether a reason or the type of a condition says that the object was
// stopped, such as ReconcilePaused.
func stops(word string) bool {
	for _, end := range []string{"Paused", "Suspended"} {
		if strings.HasSuffix(word, end) && !strings.HasSuffix(word, "Not"+end) {
			return true
		}
	}
	return phases[plain(word)] == Suspended
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
		switch {
		case failure(text):
			state = Degraded
		case strings.HasSuffix(key, "ing") || strings.HasPrefix(key, "waitingfor"):
			state = Progressing
		default:
			return Health{State: Unknown, Reason: word(text)}, false
		}
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
