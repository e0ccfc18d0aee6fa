package health

import "strings"

// words has texts that most objects have, with their meaning as types of conditions, so that they are
// not allocated for each object.
var words = func() map[string]*meaning {
	all := make(map[string]*meaning)
	for word := range strings.FieldsSeq(`True False Unknown Running Pending Succeeded Failed Active Bound Available
		Ready Initialized ContainersReady PodScheduled PodReadyToStartContainers DisruptionTarget
		Progressing ReplicaFailure NewReplicaSetAvailable MinimumReplicasAvailable MinimumReplicasUnavailable
		Complete SuccessCriteriaMet Suspended DisruptionAllowed SufficientPods InsufficientPods
		MemoryPressure DiskPressure PIDPressure NetworkUnavailable Reconciling Stalled Synced
		Completed Error CrashLoopBackOff ImagePullBackOff ErrImagePull ContainerCreating PodInitializing ContainersNotReady
		ClusterIP LoadBalancer NodePort ExternalName RollingUpdate OnDelete Recreate Always OnFailure Never`) {
		m := newMeaning(word)
		all[word] = &m
	}
	return all
}()

// meaning is what a True condition says by its type alone.
type meaning struct {
	kind         string
	fails, stops bool
}

func meaningOf(kind []byte) meaning {
	if m, known := words[string(kind)]; known {
		return *m
	}
	return newMeaning(string(kind))
}

// newMeaning returns the meaning of a type. An Expired NodeClaim has not failed: it still works.
func newMeaning(kind string) meaning {
	fails := failure(kind) && kind != "Expired" || strings.HasSuffix(kind, "Pressure") || kind == "NetworkUnavailable" || kind == "Fallback"
	return meaning{kind, fails, stops(kind)}
}

// failure reports whether a reason or the type of a condition names a failure. Both are CamelCase
// words by Kubernetes' API conventions, and no list of them exists.
func failure(reason string) bool {
	switch {
	case reason == "", reason == "ArtifactNotFound", reason == "SourceNotFound": // of Flux, until the source has been fetched
		return false
	case startsWord(reason, "Err"): // such as cert-manager's ErrInitIssuer
		return true
	case startsWord(reason, "No") && !strings.HasPrefix(reason, "NoMatching"): // such as NoError, NoConflicts
		return false
	}
	lower := strings.ToLower(reason)
	for _, part := range failureParts {
		if at := strings.Index(lower, part); at >= 0 && beginsWord(reason, at) {
			return true
		}
	}
	return false
}

// startsWord reports whether a CamelCase text begins with this word and another one follows.
func startsWord(text, prefix string) bool {
	next, found := strings.CutPrefix(text, prefix)
	return found && next != "" && next[0] >= 'A' && next[0] <= 'Z'
}

// beginsWord reports whether a word begins at a byte: Stalled is not a word of Installed.
func beginsWord(text string, at int) bool {
	return at == 0 || text[at] < 'a' || text[at] > 'z' || text[at-1] < 'A' || text[at-1] > 'z' || text[at-1] == '_'
}

var failureParts = []string{
	"fail", "error", "invalid", "backoff", "denied", "forbidden", "unauthorized", "exceeded", "degraded", "unhealthy", "stalled", "exception", "fatal",
	"conflict", "rejected", "unsupported", "notfound", "missing", "misconfigur", "incompatible", "unresolvable", "crash", "evicted", "expired", "nomatching", "aborted",
	"notvalid", "notusable", "notpermitted", "notallowed", "notsupported",
}

// phases are words that many projects use for the phase or state of an object, in lower case and without
// separators. Those that mean Suspended also count as types of True conditions and as reasons of False
// ones. Words that name a failure or end in -ing need no entry.
var phases = map[string]State{
	"active": OK, "atlatestknown": OK, "available": OK, "bound": OK, "complete": OK, "completed": OK, "created": OK, "deployed": OK, "enabled": OK,
	"established": OK, "green": OK, "healthok": OK, "healthy": OK, "normal": OK, "ok": OK, "omitted": OK, "provisioned": OK, "ready": OK,
	"running": OK, "skipped": OK, "stable": OK, "success": OK, "succeeded": OK, "successful": OK, "synced": OK, "valid": OK,
	"bootstrap": Progressing, "inprogress": Progressing, "new": Progressing, "queued": Progressing, "requiresapproval": Progressing,
	"submitted": Progressing, "yellow": Progressing,
	"blocked": Degraded, "cancelled": Degraded, "canceled": Degraded, "faulted": Degraded, "healtherr": Degraded, "healthwarn": Degraded,
	"lost": Degraded, "notready": Degraded, "offline": Degraded, "red": Degraded, "timeout": Degraded, "unavailable": Degraded,
	"disabled": Suspended, "hibernated": Suspended, "paused": Suspended, "scaledtozero": Suspended, "stopped": Suspended, "suspended": Suspended,
	"deleting": Terminating, "terminating": Terminating, "unknown": Unknown,
}

// stops reports whether a reason or the type of a condition says that the object was stopped.
func stops(word string) bool {
	return strings.HasSuffix(word, "Paused") && !strings.HasSuffix(word, "NotPaused") ||
		strings.HasSuffix(word, "Suspended") && !strings.HasSuffix(word, "NotSuspended") || phases[plain(word)] == Suspended
}

// ended has reasons of an object that is not ready because it has ended.
var ended = map[string]bool{"completed": true, "finished": true, "succeeded": true}

// byWord judges by the word in a field of the status. Words without a meaning are Unknown.
func (o *object) byWord(path ...string) Health { return o.judgeWord(o.status.text(path...)) }

func (o *object) judgeWord(text string) Health {
	key := plain(text)
	state, known := phases[key]
	switch {
	case known && !(key == "running" && o.runsOnce()):
	case failure(text):
		state = Degraded
	case strings.HasSuffix(key, "ing"), strings.HasPrefix(key, "waitingfor"):
		state = Progressing
	default:
		return Declared(Unknown, text, 0)
	}
	h := Declared(state, text, 0)
	if o.runsOnce() {
		return h.endless()
	}
	return h
}

// plain returns a word in lower case and without separators, "" if it is longer than maxReason.
func plain(text string) string {
	if len(text) > maxReason {
		return ""
	}
	return separators.Replace(strings.ToLower(text))
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")
