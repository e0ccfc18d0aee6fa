package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// Verdict is what the deletion of one object does to another.
type Verdict string

// The verdicts, the worst first.
const (
	Deleted        Verdict = "deleted"
	BreaksNow      Verdict = "breaks now"
	ProbablyBreaks Verdict = "probably breaks" // the reference is only inferred
	CannotStart    Verdict = "cannot start again"
	LosesOptional  Verdict = "loses an optional reference"
	Unaffected     Verdict = "unaffected"
)

// Verdicts are all of them, the worst first.
var Verdicts = []Verdict{Deleted, BreaksNow, ProbablyBreaks, CannotStart, LosesOptional, Unaffected}

// Impact is what the deletion of one object does to the others of a graph.
type Impact struct {
	Object Key `json:"object"`
	// PropagationPolicy is how the object is deleted.
	PropagationPolicy string `json:"propagationPolicy"`
	// Counts are the objects of the graph, by verdict.
	Counts map[Verdict]int `json:"counts"`
	// Groups are the objects, the worst first. They have no unaffected object without a
	// reference to a deleted one.
	Groups []ImpactGroup `json:"groups"`
	// Unseen counts the objects outside the graph that refer to deleted ones.
	Unseen int `json:"unseen"`
	// Synced: the graph was complete. Warnings say what is not in it.
	Synced   bool      `json:"synced"`
	Warnings []Warning `json:"warnings"`
	// LeftOut has lines for people about the gaps of the answer: resources that the user may not list or that
	// have not synced, other namespaces, inferred references.
	LeftOut []string `json:"leftOut"`

	// JSON is the answer as the server wrote it.
	JSON []byte `json:"-"`
}

// ImpactGroup are objects with the same verdict for the same reason.
type ImpactGroup struct {
	Verdict Verdict `json:"verdict"`
	Kind    string  `json:"kind"`
	Objects []Key   `json:"objects"`
	// Path leads from the first of Objects to the object that the impact is asked for.
	Path []ImpactStep `json:"path"`
	// Holds keep deleted objects from disappearing.
	Holds []ImpactHold `json:"holds"`
	// Again is the object that makes these again.
	Again *Key `json:"again"`
}

// ImpactStep is one step of a path.
type ImpactStep struct {
	From Key `json:"s"`
	To   Key `json:"d"`
	// Type is that of an arc, or InContent.
	Type   ArcType  `json:"t"`
	Fields []string `json:"f"`
	Words  []string `json:"w"`
	// Reversed: the arc leads from To to From.
	Reversed bool `json:"reversed"`
}

// InContent is the type of a step from an object to its namespace, or to the definition of its
// kind.
const InContent ArcType = "in"

// ImpactHold says what must happen before a deleted object disappears: Finalizer is removed, and
// the objects By are deleted first.
type ImpactHold struct {
	Finalizer string `json:"finalizer"`
	By        []Key  `json:"by"`
}

// Impact returns what the deletion of an object does to the others of a graph, as the user may see
// them. The key needs no version. The policy is "", Background, Foreground or Orphan. Of the
// options only ExcludeInferred counts. The error is IsNotFound if the graph lacks the object.
func (c *Client) Impact(ctx context.Context, namespace, name string, key Key, policy string, o Options) (*Impact, error) {
	query := url.Values{"impact": {rootName(key)}}
	if o.ExcludeInferred {
		query.Set("inferred", "false")
	}
	if policy != "" {
		query.Set("propagationPolicy", policy)
	}
	body, err := c.get(ctx, c.url(query, "namespaces", namespace, "graphs", name), jsonType)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var text json.RawMessage
	if err := json.NewDecoder(body).Decode(&text); err != nil {
		return nil, fmt.Errorf("get impact on graph %s/%s: %w", namespace, name, err)
	}
	return parseImpact(text)
}

// RequestImpact is Impact on the graph that a request describes. It waits until that graph is
// complete. The error is a *CloseError of reason NotFound if the graph lacks the object.
func (c *Client) RequestImpact(ctx context.Context, r Request, key Key, policy string, o Options) (*Impact, error) {
	conn, err := c.dial(ctx, c.url(nil, "watch", "streams"), "graphview.mux.v1")
	if err != nil {
		return nil, err
	}
	defer conn.close()
	what := channelRequest{Request: r.without(o.ExcludeInferred), Impact: rootName(key), PropagationPolicy: policy}
	m, err := askChannel(ctx, conn, what)
	if err != nil {
		return nil, err
	}
	text, err := m.receive(ctx)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Impact json.RawMessage `json:"impact"`
		Error  *CloseError     `json:"error"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return nil, fmt.Errorf("parse impact: %w", err)
	case answer.Error != nil:
		return nil, answer.Error
	case answer.Impact == nil:
		return nil, errors.New("the server is older than this question")
	}
	return parseImpact(answer.Impact)
}

func parseImpact(text []byte) (*Impact, error) {
	found := &Impact{JSON: text}
	if err := json.Unmarshal(text, found); err != nil {
		return nil, fmt.Errorf("parse impact: %w", err)
	}
	if found.Counts == nil {
		return nil, errors.New("the server is older than this question")
	}
	return found, nil
}
