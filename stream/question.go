package stream

import (
	"context"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/stream/rights"
)

// question is what somebody may be allowed to do: with a resource, or with a
// path that is none.
type question struct {
	verb, group, version, resource, namespace, name string

	path string
}

// String is the question in words, as in "may you …".
func (q question) String() string {
	switch {
	case q.path != "":
		return q.verb + " " + q.path
	case q.resource == resource:
		return q.verb + " graph " + graphview.Name{Namespace: q.namespace, Name: q.name}.String()
	default:
		return q.verb + " " + q.resource
	}
}

// access is the question as package access puts it.
func (q question) access() access.Question {
	return access.Question{
		Verb: q.verb, Group: q.group, Version: q.version, Resource: q.resource, Namespace: q.namespace, Name: q.name, Path: q.path,
	}
}

// terms are those of a lease that lasts as long as what is asked is allowed.
func (q question) terms(end context.CancelCauseFunc) rights.Terms {
	return rights.Terms{Right: q.access(), Doing: q.String(), End: end}
}

// newPermissions asks for them with review, and tells the metrics.
func newPermissions(review access.Review, interval time.Duration, key []byte, m *metrics) *rights.Permissions {
	return rights.New(rights.Options{
		Review: review, Interval: interval, Key: key, Reviewed: m.reviewed, Rechecked: m.rechecked,
		Unchecked: func(leases int) { m.unchecked.Set(float64(leases)) },
	})
}
