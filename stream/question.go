package stream

import (
	"context"
	"strconv"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/rights"
)

// question asks for a right: a verb on a resource, or on a path.
type question struct {
	verb, group, version, resource, subresource, namespace, name string

	path string
}

// rightToGraph is the right to a verb on a graph; without a name, on the graphs of a namespace,
// and without a namespace, on all graphs.
func rightToGraph(verb, namespace, name string) question {
	return question{verb: verb, group: groupVersion.Group, version: groupVersion.Version, resource: resource, namespace: namespace, name: name}
}

// String returns the question in words, for "you may not …".
func (q question) String() string {
	switch {
	case q.path != "":
		return q.verb + " " + q.path
	case q.resource == clusters:
		return "open graphs of cluster " + q.name
	case q.resource == resource && q.name == "" && q.namespace == "":
		return q.verb + " graphs of all namespaces"
	case q.resource == resource && q.name == "":
		return q.verb + " graphs of namespace " + strconv.Quote(q.namespace)
	case q.resource == resource:
		return q.verb + " graph " + graphview.Name{Namespace: q.namespace, Name: q.name}.String()
	default:
		return q.verb + " " + q.resource
	}
}

// access returns the question for package access.
func (q question) access() access.Question {
	return access.Question{
		Verb: q.verb, Group: q.group, Version: q.version, Resource: q.resource, Subresource: q.subresource, Namespace: q.namespace, Name: q.name, Path: q.path,
	}
}

// terms returns the terms of a lease that lasts as long as the right.
func (q question) terms(end context.CancelCauseFunc) rights.Terms {
	return rights.Terms{Right: q.access(), Doing: q.String(), End: end}
}

const (
	// urgentPerSecond bounds questions that a subscriber waits for. They come in bursts, when a
	// user with few rights opens a view of many namespaces.
	urgentPerSecond = 1000
	// calmPerSecond bounds the questions of re-checks.
	calmPerSecond = 400
	// keepRightsFor is the time for which the answers about a user without streams are kept.
	keepRightsFor = 10 * time.Minute
)

// newPermissions returns permissions that report to the metrics.
func newPermissions(review access.Review, interval time.Duration, ledger *budget.Ledger, m *metrics) *rights.Permissions {
	return rights.New(rights.Options{
		Urgent:   access.New(access.Options{Review: review, PerSecond: urgentPerSecond, Reviewed: m.reviewed}),
		Calm:     access.New(access.Options{Review: review, PerSecond: calmPerSecond, Reviewed: m.reviewed}),
		Interval: interval, KeepFor: keepRightsFor, Ledger: ledger, Rechecked: m.rechecked,
		Unchecked: func(leases int) { m.unchecked.Set(float64(leases)) },
	})
}
