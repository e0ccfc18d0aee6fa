package health

import (
	"bytes"
	"slices"
	"strings"
)

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

// meaning is the meaning of a True condition by its type alone.
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

// newMeaning returns the meaning of a type, by the part after a prefix such as ACK. or cnpg.io/. An Expired
// NodeClaim has not failed: it still works. NotReady is Ready the other way round.
func newMeaning(kind string) meaning {
	base := kind[strings.LastIndexAny(kind, "./")+1:]
	fails := failure(base) && base != "Expired" || strings.HasSuffix(base, "Pressure") || phases[plain(base)] == Degraded && !startsWord(base, "Not") ||
		base == "NetworkUnavailable" || base == "Fallback" || base == "Terminal"
	return meaning{kind, fails, stops(base)}
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
	return names(reason, failureParts)
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
	"conflict", "rejected", "unsupported", "notfound", "missing", "misconfigur", "incompatible", "unresolvable", "crash", "expired", "nomatching", "aborted", "nothealthy",
	"mismatch", "different", "notvalid", "notusable", "notpermitted", "notallowed", "notsupported",
}

// phases are words that many projects use for the phase or state of an object, in lower case and without
// separators. Those that mean Suspended also count as types of True conditions and as reasons of False
// ones. Words that name a failure or end in -ing need no entry.
var phases = map[string]State{
	"accepted": OK, "active": OK, "atlatestknown": OK, "available": OK, "bound": OK, "complete": OK, "completed": OK, "compliant": OK, "created": OK,
	"deployed": OK, "enabled": OK, "established": OK, "green": OK, "healthok": OK, "healthy": OK, "initialized": OK, "normal": OK, "ok": OK,
	"omitted": OK, "provisioned": OK, "ready": OK, "running": OK, "serving": OK, "skipped": OK, "stable": OK, "success": OK, "succeeded": OK, "successful": OK,
	"synced": OK, "valid": OK,
	"bootstrap": Progressing, "inprogress": Progressing, "new": Progressing, "prepared": Progressing, "queued": Progressing, "readytostart": Progressing,
	"requiresapproval": Progressing, "submitted": Progressing, "yellow": Progressing,
	"blocked": Degraded, "cancelled": Degraded, "canceled": Degraded, "faulted": Degraded,
	"healtherr": Degraded, "healthwarn": Degraded, "lost": Degraded, "noncompliant": Degraded, "notready": Degraded, "offline": Degraded,
	"red": Degraded, "timeout": Degraded, "unavailable": Degraded,
	"disabled": Suspended, "hibernated": Suspended, "hibernating": Suspended, "hibernation": Suspended, "notraffic": Suspended, "paused": Suspended,
	"scaledtozero": Suspended, "stopped": Suspended, "suspended": Suspended,
	"deleting": Terminating, "terminating": Terminating, "unknown": Unknown,
}

// stops reports whether a reason or the type of a condition says that the object was stopped.
func stops(word string) bool {
	return strings.HasSuffix(word, "Paused") && !strings.HasSuffix(word, "NotPaused") ||
		strings.HasSuffix(word, "Suspended") && !strings.HasSuffix(word, "NotSuspended") || phases[plain(word)] == Suspended
}

// ended has reasons of an object that is not ready because it has ended.
var ended = map[string]bool{"completed": true, "finished": true, "succeeded": true}

// work has the ends of types of conditions that are True while a controller changes the object.
var work = strings.Fields(`Updating Upgrading Creating Provisioning Installing Progressing Migrating Restoring Rebalancing Resizing Restarting
	Deploying Configuring Initializing Recovering Repairing Remediating Expanding Issuing RollingOut ScalingUp ScalingDown`)

// patient has the beginnings of words for a state without a deadline: a person has to approve, a pod has to
// use the object, or data is moved.
var patient = strings.Fields("approv proposal firstconsumer rebalanc migrat import export clon restor backup upload download rebuild resync")

// names reports whether one of these parts, in lower case, begins a word in a text.
func names(text string, parts []string) bool {
	lower := []byte(text)
	for i, b := range lower { // strings.ToLower changes the length of a text with letters such as Ⱥ
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return slices.ContainsFunc(parts, func(part string) bool {
		at := bytes.Index(lower, []byte(part))
		return at >= 0 && beginsWord(text, at)
	})
}

// byWord judges by the word in a field of the status. Words without a meaning are Unknown.
func (o *object) byWord(path ...string) Health { return o.judgeWord(o.status.text(path...)) }

func (o *object) judgeWord(text string) Health {
	key := plain(text)
	state, known := phases[key]
	switch {
	case known && !(o.runsOnce() && onTheWay[key]):
	case failure(text):
		state = Degraded
	case !known && saysWell(text):
		state = OK
	case known, negated(text), strings.HasSuffix(key, "ing"), begun(text), strings.HasSuffix(key, "inprogress"), strings.HasPrefix(key, "waitingfor"), strings.HasPrefix(key, "waitfor"):
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

// begun reports whether a text begins with a word for work, as ApplyingChanges and "Provisioning the set".
func begun(text string) bool {
	end := 1 + strings.IndexFunc(text[min(1, len(text)):], func(r rune) bool { return r == ' ' || 'A' <= r && r <= 'Z' })
	return end > 1 && strings.HasSuffix(text[:end], "ing") && phases[plain(text[:end])] == ""
}

// saysWell reports whether a text of several words has a word that means OK and no word that takes it back, such as
// "Cluster in healthy state".
func saysWell(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	return len(words) > 1 && !begun(text) && !slices.ContainsFunc(words, func(word string) bool { return takesBack[word] || strings.ContainsAny(word, "0123456789") }) &&
		slices.ContainsFunc(words, func(word string) bool { return phases[word] == OK })
}

// takesBack has words that take back the meaning of the other words in a text.
var takesBack = map[string]bool{"not": true, "no": true, "never": true, "without": true, "until": true, "to": true, "be": true, "being": true, "waits": true, "wait": true}

// negated reports whether a word says that something is not yet so, as RequirementsNotMet.
func negated(text string) bool {
	at := strings.Index(text, "Not")
	return at >= 0 && beginsWord(text, at) && startsWord(text[at:], "Not") && !hasStart(text[at+len("Not"):], "Required", "Needed", "Applicable", "Used", "Enabled")
}

// onTheWay has words that mean Progressing for objects that run once.
var onTheWay = map[string]bool{"accepted": true, "created": true, "initialized": true, "running": true}

// plain returns a word in lower case and without separators, "" if it is longer than maxReason.
func plain(text string) string {
	if len(text) > maxReason {
		return ""
	}
	return separators.Replace(strings.ToLower(text))
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")
