package client

import (
	"context"
	"net/url"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

// Verdict and the types below are the types of answers to a question about the deletion of an object.
type (
	// Verdict is the effect of the deletion on another object.
	Verdict = streamv1alpha1.Verdict
	// Impact has the effects of the deletion on the other objects of a graph.
	Impact = streamv1alpha1.GraphImpact
	// ImpactGroup has the objects with the same verdict for the same reason.
	ImpactGroup = streamv1alpha1.ImpactGroup
	// ImpactStep is one step of the path to the deleted object.
	ImpactStep = streamv1alpha1.ImpactStep
	// ImpactHold delays the deletion.
	ImpactHold = streamv1alpha1.ImpactHold
)

// The verdicts, the worst first.
const (
	Deleted        Verdict = "deleted"
	BreaksNow      Verdict = "breaks now"
	ProbablyBreaks Verdict = "probably breaks" // the reference is only inferred
	CannotStart    Verdict = "cannot start again"
	LosesOptional  Verdict = "loses an optional reference"
	Unaffected     Verdict = "unaffected"
)

// Verdicts are all verdicts, the worst first.
var Verdicts = []Verdict{Deleted, BreaksNow, ProbablyBreaks, CannotStart, LosesOptional, Unaffected}

// InContent is the type of a step from an object to its namespace, or to the definition of its
// kind.
const InContent ArcType = "in"

// Impact returns the effects of the deletion of an object on the others of a graph that the user may
// see. The key needs no version. The policy is "", Background, Foreground or Orphan. Of the
// options only ExcludeInferred counts. The error is IsNotFound if the graph lacks the object.
func (c *Client) Impact(ctx context.Context, namespace, name string, key Key, policy string, o Options) (*Impact, error) {
	query := url.Values{"impact": {rootName(key)}}
	if o.ExcludeInferred {
		query.Set("inferred", "false")
	}
	if policy != "" {
		query.Set("propagationPolicy", policy)
	}
	found := &Impact{}
	if err := c.getAnswer(ctx, c.url(query, "namespaces", namespace, "graphs", name), found); err != nil {
		return nil, err
	}
	return answered(found)
}

// RequestImpact is Impact on the graph of an ad-hoc view. It waits until that graph is
// complete. The error is a *CloseError of reason NotFound if the graph lacks the object.
func (c *Client) RequestImpact(ctx context.Context, spec Spec, key Key, policy string, o Options) (*Impact, error) {
	conn, err := c.dial(ctx, c.url(nil, "watch", "streams"), "graphview.mux.v1")
	if err != nil {
		return nil, err
	}
	defer conn.close()
	what := &streamv1alpha1.Subscribe{Spec: declared(spec, &o), Impact: rootName(key), PropagationPolicy: policy}
	m, err := askChannel(ctx, conn, what)
	if err != nil {
		return nil, err
	}
	answer, _, err := m.receive(ctx)
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		return nil, answer.Error
	}
	return answered(answer.Impact)
}

// answered returns an answer unless it is that of a server that does not know the question.
func answered(found *Impact) (*Impact, error) {
	if found == nil || found.Counts == nil {
		return nil, errOlder
	}
	return found, nil
}
