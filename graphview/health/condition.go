package health

import "strings"

// condition is one of an object's status.conditions.
type condition struct {
	kind, status, reason string
	at                   fields // that have lastTransitionTime
	since                int64  // the same, once it was found
}

// began is when the condition came to be what it is, in seconds since 1970.
func (c condition) began() int64 { return seconds(c.at.text("lastTransitionTime")) }

func (c condition) isTrue() bool { return c.status == "True" }

// conditionsOf are an object's conditions.
type conditionsOf []condition

func conditionsAt(f fields, path ...string) conditionsOf {
	all := make(conditionsOf, 0, f.length(path...))
	f.each(func(c fields) bool {
		all = append(all, condition{kind: c.text("type"), status: c.text("status"), reason: c.text("reason"), at: c})
		return true
	}, path...)
	return all
}

func (all conditionsOf) find(kind string) (condition, bool) {
	for _, c := range all {
		if c.kind == kind {
			// Few of them matter, and a foreign object may have any number.
			c.since = c.began()
			return c, true
		}
	}
	return condition{}, false
}

// readiness is what conditions say that are True once an object is as it should
// be, such as Ready: the first of the kinds that is there decides.
func (all conditionsOf) readiness(kinds ...string) (Health, bool) {
	for _, kind := range kinds {
		c, found := all.find(kind)
		if !found {
			continue
		}
		switch {
		case c.isTrue():
			return Health{State: OK, Reason: word(c.reason), Since: c.since}, true
		case c.status == "Degraded", c.status == "False" && failure(c.reason): // the former is of the Prometheus operator
			return Health{State: Degraded, Reason: word(c.reason), Since: c.since}, true
		default:
			reason := c.reason
			if reason == "" {
				reason = "Not" + kind
			}
			return progressing(reason, c.since), true
		}
	}
	return Health{}, false
}

// failure tells from a condition's reason that what it is about failed, and does
// not merely take its time. Reasons are CamelCase words by Kubernetes' API
// conventions, and no list of them exists.
func failure(reason string) bool {
	if failureExceptions[reason] {
		return false
	}
	if len(reason) > 3 && strings.HasPrefix(reason, "Err") && reason[3] >= 'A' && reason[3] <= 'Z' {
		return true // such as cert-manager's ErrInitIssuer
	}
	lower := strings.ToLower(reason)
	for _, part := range failureParts {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

var failureParts = []string{
	"fail", "error", "invalid", "backoff", "denied", "forbidden", "unauthorized", "exceeded", "degraded", "unhealthy", "stalled",
	"conflict", "rejected", "unsupported", "notfound", "missing", "misconfigur", "incompatible", "unresolvable", "crash", "evicted", "expired",
}

// failureExceptions are reasons that contain such a part and pass by themselves.
var failureExceptions = map[string]bool{
	"NoError":            true,
	"DependencyNotReady": true,
	"ArtifactNotFound":   true, // of Flux, until the source has been fetched
	"SourceNotFound":     true,
}
