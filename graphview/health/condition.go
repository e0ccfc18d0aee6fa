package health

import (
	"cmp"
	"slices"
	"strings"
)

// condition is one of an object's status.conditions.
type condition struct {
	// status is Unknown if the condition is about an older generation than the
	// object's. A condition without a status, as Argo CD writes them, is True if its
	// type names a failure.
	kind, status, reason string
	outdated             bool
	at                   fields   // those of the condition
	known                *meaning // of kind, if it is one of words
}

// since is when the condition took its status, in seconds since 1970.
func (c condition) since() int64 { return seconds(c.at.text("lastTransitionTime")) }

// meaning is what the type says if the condition is True.
func (c condition) meaning() meaning {
	if c.known != nil {
		return *c.known
	}
	return newMeaning(c.kind)
}

func (c condition) isTrue() bool { return c.status == "True" }

// conditionsOf are an object's conditions, or those of one element of a list.
type conditionsOf []condition

func conditionsAt(f fields, generation int64, path ...string) conditionsOf {
	all := make(conditionsOf, 0, f.length(path...))
	f.each(func(at fields) bool {
		c := condition{status: at.text("status"), reason: at.text("reason"), at: at}
		said, _ := at.at("type").read.Text()
		if c.known = words[string(said)]; c.known != nil {
			c.kind = c.known.word
		} else {
			c.kind = at.text("type")
		}
		var observed int64
		if generation > 1 { // else no condition is older
			observed, _ = at.number("observedGeneration")
		}
		switch {
		case observed > 0 && observed < generation:
			c.status, c.reason, c.outdated = "Unknown", "LatestGenerationNotObserved", true
		case c.status == "" && failure(c.kind):
			c.status = "True"
		}
		all = append(all, c)
		return true
	}, path...)
	return all
}

func (all conditionsOf) find(kind string) (condition, bool) {
	return all.first(func(c condition) bool { return c.kind == kind })
}

// failed is the first True condition whose type names a failure.
func (all conditionsOf) failed() (condition, bool) {
	return all.first(func(c condition) bool { return c.isTrue() && c.meaning().fails })
}

// refused is the first False condition whose reason names a failure, although its type does not.
func (all conditionsOf) refused() (condition, bool) {
	return all.first(func(c condition) bool { return c.status == "False" && failure(c.reason) && !c.meaning().fails })
}

// about reports whether one of the conditions says that it is about a generation.
func (all conditionsOf) about(generation int64) bool {
	_, found := all.first(func(c condition) bool { return c.at.numberOr(0, "observedGeneration") == generation })
	return found
}

// newest reports whether a condition is about the newest generation, or does not say.
func (all conditionsOf) newest() bool {
	_, found := all.first(func(c condition) bool { return !c.outdated })
	return found || len(all) == 0
}

func (all conditionsOf) first(wanted func(condition) bool) (condition, bool) {
	for _, c := range all {
		if wanted(c) {
			return c, true
		}
	}
	return condition{}, false
}

// readiness judges by conditions that are True once an object is as it should be, such
// as Ready: the first of the kinds that the object has decides. NotReady=True is
// Ready=False.
func (o *object) readiness(kinds ...string) (Health, bool) {
	for _, kind := range kinds {
		c, found := o.conditions.find(kind)
		if !found {
			if c, found = o.conditions.find("Not" + kind); found {
				c.status = opposite[c.status]
			}
		}
		if found {
			return o.readinessBy(kind, c), true
		}
	}
	return Health{}, false
}

var opposite = map[string]string{"True": "False", "False": "True"}

func (o *object) readinessBy(kind string, c condition) Health {
	switch {
	case c.isTrue():
		return Health{State: OK, Reason: word(c.reason), Since: c.since()}
	case c.status == "Degraded": // of the Prometheus operator
		return degraded(c.reason, c.since())
	case c.status == "False":
		switch {
		case stops(c.reason):
			return Health{State: Suspended, Reason: word(c.reason), Since: c.since()}
		case ended[plain(c.reason)]:
			return Health{State: OK, Reason: word(c.reason), Since: c.since()}
		case failure(c.reason), kind == "Synced" && c.reason == "", kind == "Succeeded" && o.runsOnce(), verdicts[kind] && !waits(c.reason):
			return degraded(cmp.Or(c.reason, "Not"+kind), c.since())
		}
	}
	h := progressing(cmp.Or(c.reason, "Not"+kind), c.since())
	if c.outdated {
		h = unseen()
	}
	if kind == "Succeeded" || kind == "Complete" {
		return h.endless()
	}
	return h
}

// verdicts are conditions that are False only after the controller looked at the spec.
var verdicts = map[string]bool{
	"Accepted": true, "Admitted": true, "ResolvedRefs": true, "Programmed": true, "Established": true, "NamesAccepted": true, "Valid": true, "Success": true,
}

// waits reports whether a reason says that a verdict is still to come.
func waits(reason string) bool {
	return strings.HasPrefix(reason, "Waiting") || strings.HasSuffix(plain(reason), "ing") || reason == "AddressNotAssigned"
}

// onceEnds are ends of the names of kinds whose objects run once. Running is no end for them, and
// they may run for days.
var onceEnds = []string{"Job", "Run", "Workflow", "Experiment", "SparkApplication"}

func (o *object) runsOnce() bool {
	return slices.ContainsFunc(onceEnds, func(end string) bool { return strings.HasSuffix(o.kind.Kind, end) })
}

// failure reports whether a reason, or the type of a condition, names a failure, and
// not only that something takes its time. Both are CamelCase words by Kubernetes' API
// conventions, and no list of them exists.
func failure(reason string) bool {
	if failureExceptions[reason] {
		return false
	}
	if len(reason) > 3 && strings.HasPrefix(reason, "Err") && reason[3] >= 'A' && reason[3] <= 'Z' {
		return true // such as cert-manager's ErrInitIssuer
	}
	if strings.HasPrefix(reason, "No") && len(reason) > 2 && reason[2] >= 'A' && reason[2] <= 'Z' && !strings.HasPrefix(reason, "NoMatching") {
		return false // such as NoError, NoConflicts
	}
	lower := strings.ToLower(reason)
	for _, part := range failureParts {
		if at := strings.Index(lower, part); at >= 0 && beginsWord(reason, at) {
			return true
		}
	}
	return false
}

// beginsWord reports whether a word of CamelCase or snake_case begins at a byte: Stalled
// is no word of Installed.
func beginsWord(text string, at int) bool {
	return at == 0 || text[at] < 'a' || text[at] > 'z' || text[at-1] < 'A' || text[at-1] > 'z' || text[at-1] == '_'
}

var failureParts = []string{
	"fail", "error", "invalid", "backoff", "denied", "forbidden", "unauthorized", "exceeded", "degraded", "unhealthy", "stalled", "exception", "fatal",
	"conflict", "rejected", "unsupported", "notfound", "missing", "misconfigur", "incompatible", "unresolvable", "crash", "evicted", "expired", "nomatching", "aborted",
	"notvalid", "notusable", "notpermitted", "notallowed", "notsupported",
}

// failureExceptions are reasons that contain such a part and pass by themselves.
var failureExceptions = map[string]bool{
	"DependencyNotReady": true,
	"ArtifactNotFound":   true, // of Flux, until the source has been fetched
	"SourceNotFound":     true,
}
