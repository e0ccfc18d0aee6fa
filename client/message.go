package client

import (
	"encoding/json"
	"fmt"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

// Message and the types below are the messages of the protocol and their parts.
type (
	// Message is a message of a stream.
	Message = streamv1alpha1.Message
	// Action changes a graph.
	Action = streamv1alpha1.Action
	// Vertex is an object of the cluster.
	Vertex = streamv1alpha1.Vertex
	// Deletion deletes a vertex.
	Deletion = streamv1alpha1.Deletion
	// Arc is a reference from one object to another.
	Arc = streamv1alpha1.Arc
	// ArcKey identifies an arc.
	ArcKey = streamv1alpha1.ArcKey
	// ArcType is the type of a reference.
	ArcType = streamv1alpha1.ArcType
	// Attributes are the properties of an arc beside its identity.
	Attributes = streamv1alpha1.Attributes
	// Outside is the reason why the destination of an arc is not in the graph, although it may exist.
	Outside = streamv1alpha1.Outside
	// Key identifies a vertex.
	Key = streamv1alpha1.Key
	// ResourceKind is the kind of the objects of a resource.
	ResourceKind = streamv1alpha1.ResourceKind
	// Warning is a reason why the graph may lack objects.
	Warning = streamv1alpha1.Warning
	// CloseError is the reason why a stream ends, or was not begun.
	CloseError = streamv1alpha1.CloseError
	// Summary has the properties of an object that a list or a map of the graph shows.
	Summary = streamv1alpha1.Summary
	// Selection is a selector in a summary.
	Selection = streamv1alpha1.Selection
	// Requirement is one condition of a selector on a label.
	Requirement = streamv1alpha1.Requirement
	// DeletionFacts are the properties of an object that matter for deletions.
	DeletionFacts = streamv1alpha1.DeletionFacts
	// RemoteReference is a reference of an object to another cluster.
	RemoteReference = streamv1alpha1.RemoteReference
	// GraphObject is one object of a graph with its arcs.
	GraphObject = streamv1alpha1.GraphObject
)

// The types of arcs.
const (
	// Owner leads from an object to its owner.
	Owner ArcType = "or"
	// Uses leads from an object to another that it uses or selects.
	Uses ArcType = "r"
	// Names leads from an object to another that it names for others to use.
	Names ArcType = "t"
)

// The values of Attributes.Outside: why an element is not in the graph.
const (
	// OutsideView means that the element exists, and the view does not select it.
	OutsideView Outside = "outside"
	// OutsideUnknown means that the view does not watch the kind or the namespace of the element.
	OutsideUnknown Outside = "unknown"
)

// The types of warnings.
const (
	InformerSyncFailed     = streamv1alpha1.InformerSyncFailed
	DiscoveryFailed        = streamv1alpha1.DiscoveryFailed
	NamespaceListFailed    = streamv1alpha1.NamespaceListFailed
	ObjectProcessingFailed = streamv1alpha1.ObjectProcessingFailed
	AccessDenied           = streamv1alpha1.AccessDenied
	LimitExceeded          = streamv1alpha1.LimitExceeded
	RootNotFound           = streamv1alpha1.RootNotFound
)

// HealthOK and HealthDegraded are healths of HealthAt, which also returns others of the server.
const (
	HealthOK       = streamv1alpha1.HealthOK
	HealthDegraded = streamv1alpha1.HealthDegraded
)

// Received is a message of a Subscription.
type Received struct {
	Message

	// JSON is the message as the server wrote it.
	JSON []byte
	// Own reports whether the subscription made the message, because a connection was lost. JSON is then
	// the message of a server.
	Own bool
}

func parseMessage(text []byte) (*Received, error) {
	m := &Received{JSON: text}
	if err := json.Unmarshal(text, &m.Message); err != nil {
		return nil, fmt.Errorf("parse message: %w", err)
	}
	return m, nil
}

// rewrite changes the texts of the actions in JSON, and deletes members. All else stays as the server wrote it.
func (m *Received) rewrite(change func(actions []json.RawMessage) ([]json.RawMessage, error), without ...string) error {
	var members map[string]json.RawMessage
	var actions []json.RawMessage
	err := json.Unmarshal(m.JSON, &members)
	if text, found := members["actions"]; err == nil && found {
		err = json.Unmarshal(text, &actions)
	}
	if err == nil {
		actions, err = change(actions)
	}
	if err == nil && actions != nil {
		members["actions"], err = json.Marshal(actions)
	}
	for _, name := range without {
		delete(members, name)
	}
	if err == nil {
		m.JSON, err = json.Marshal(members)
	}
	if err != nil {
		return fmt.Errorf("rewrite message: %w", err)
	}
	return nil
}

// say returns a message that the subscription makes itself.
func say(m Message) *Received {
	text, err := json.Marshal(&m)
	if err != nil { // it was decoded from JSON
		text = []byte("{}")
	}
	return &Received{Message: m, JSON: text, Own: true}
}
