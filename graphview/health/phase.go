package health

import "strings"

// phases are words that many projects use for the phase or state of an object, in
// lower case.
var phases = map[string]State{
	"active": OK, "available": OK, "bound": OK, "complete": OK, "completed": OK, "created": OK, "deployed": OK, "established": OK,
	"green": OK, "healthy": OK, "ok": OK, "provisioned": OK, "ready": OK, "running": OK, "success": OK, "succeeded": OK, "successful": OK, "synced": OK, "valid": OK,

	"creating": Progressing, "initializing": Progressing, "initialising": Progressing, "inprogress": Progressing, "installing": Progressing,
	"new": Progressing, "pending": Progressing, "processing": Progressing, "progressing": Progressing, "provisioning": Progressing,
	"queued": Progressing, "reconciling": Progressing, "scaling": Progressing, "starting": Progressing, "updating": Progressing,
	"upgrading": Progressing, "waiting": Progressing, "yellow": Progressing,

	"crashloopbackoff": Degraded, "degraded": Degraded, "error": Degraded, "errored": Degraded, "expired": Degraded, "failed": Degraded,
	"failure": Degraded, "faulted": Degraded, "invalid": Degraded, "lost": Degraded, "partiallyfailed": Degraded, "red": Degraded,
	"rejected": Degraded, "unhealthy": Degraded,

	"paused": Suspended, "suspended": Suspended, "stopped": Suspended, "hibernated": Suspended,

	"deleting": Terminating, "terminating": Terminating,
}

// phase is what a word says, Unknown where it is none of the words.
func phase(text string, words map[string]State) Health {
	state, known := words[strings.ToLower(text)]
	if !known {
		return Health{State: Unknown, Reason: word(text)}
	}
	return Health{State: state, Reason: word(text)}
}
