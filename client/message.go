package client

import (
	"encoding/json"
	"fmt"
)

// Message is one message of a stream. A graph that Get reads is one, too.
type Message struct {
	// Actions change the graph, in this order.
	Actions []Action `json:"actions"`
	// Warnings are new, or replace those of equal identity. Cleared are over.
	Warnings []Warning `json:"warnings"`
	Cleared  []Warning `json:"cleared"`
	// Kinds are those of the resources that the view watches. They come once for each
	// connection, and again when they are others.
	Kinds []ResourceKind `json:"kinds"`
	// Rev, with which the graph is whole at one instant.
	Rev string `json:"rev"`
	// Synced completes the graph: all that was selected is in it, or a warning
	// says why not.
	Synced bool `json:"synced"`
	// Reset comes before everything else of a message: forget what there was.
	Reset bool `json:"reset"`
	// Keep has the buckets that a reset keeps; see package contents. The client had sent sums of its graph.
	// "" keeps none.
	Keep string `json:"keep"`
	// Syncing: the server has begun to read the cluster. The graph stays as it was until the server has
	// read all of it.
	Syncing bool `json:"syncing"`
	// Error ends the stream.
	Error *CloseError `json:"error"`

	// JSON is the message as the server wrote it.
	JSON []byte `json:"-"`
	// Own: the subscription says so itself, because a connection was lost. JSON is
	// then what a server would have written.
	Own bool `json:"-"`
}

// ResourceKind is the kind of a resource's objects.
type ResourceKind struct {
	Group    string `json:"g"`
	Version  string `json:"v"`
	Resource string `json:"r"`
	Kind     string `json:"k"`
	// All reports whether the graph has each object of the resource in the view's namespaces, except those that
	// warnings name.
	All bool `json:"a,omitempty"`
}

// Action has exactly one member.
type Action struct {
	SetVertex    *Vertex   `json:"svx,omitempty"`
	DeleteVertex *Deletion `json:"dvx,omitempty"`
	SetArc       *Arc      `json:"sarc,omitempty"`
	DeleteArc    *Arc      `json:"darc,omitempty"`
}

// Vertex is an object of the graph. At most one of Object, Parts, Fields and Summary
// is there; of a Secret at most the last. They are not to be changed.
type Vertex struct {
	Key Key `json:"vx"`
	// Tag differs for different contents, as an ETag does. It is "" without content.
	Tag string `json:"c,omitempty"`
	// Object is the whole object.
	Object json.RawMessage `json:"o,omitempty"`
	// Parts is the list of what the view's JSONPath found in it.
	Parts json.RawMessage `json:"j,omitempty"`
	// Fields is the object of what the view's fields found in it, by their names.
	Fields json.RawMessage `json:"f,omitempty"`
	// Summary is there where Options.Content is ContentSummary.
	Summary *Summary `json:"m,omitempty"`
}

// Summary is the little of an object that a list or a map of the graph needs. Times
// are in seconds since 1970, 0 where the object does not say.
type Summary struct {
	Kind string `json:"k"`
	// Health is ok, suspended, terminating, progressing or degraded, and "" where the
	// object does not say how it is. From Overdue on, unless that is 0, it is degraded: see HealthAt.
	Health  string `json:"h,omitempty"`
	Overdue int64  `json:"od,omitempty"`
	// Why is a word.
	Why   string `json:"w,omitempty"`
	Since int64  `json:"s,omitempty"`
	// Ended reports that the object has ended, such as a pod that failed. It is of no
	// account while the controller that owns it is ok.
	Ended bool `json:"end,omitempty"`
	// Ready are how many parts are ready, and how many should be; nil where the kind
	// has none.
	Ready   *[2]int64 `json:"rd,omitempty"`
	Created int64     `json:"t,omitempty"`
	App     string    `json:"app,omitempty"`
	UID     string    `json:"u"`
	Root    bool      `json:"root,omitempty"`
	// Selects is nil if the object may select nothing. PodLabels are the labels of the pods that it makes.
	Selects   *Selection        `json:"sel,omitempty"`
	PodLabels map[string]string `json:"pl,omitempty"`
	// Deletion is nil if the object says nothing about deletions.
	Deletion *DeletionFacts `json:"del,omitempty"`
	// Remote are the object's references to other clusters.
	Remote []RemoteReference `json:"x,omitempty"`
}

// RemoteReference is a reference to an object in another cluster, which may exist or not. Without a
// Kind it is to the cluster itself.
type RemoteReference struct {
	// Cluster is what the object calls the cluster, such as argocd:https://eu-1.example.com. A hub's
	// ClusterLink has it as an alias.
	Cluster   string `json:"d"`
	Group     string `json:"g,omitempty"`
	Kind      string `json:"k,omitempty"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n,omitempty"`
}

// DeletionFacts are the properties of an object that decide which objects a deletion
// deletes or breaks.
type DeletionFacts struct {
	Finalizers []string `json:"f,omitempty"`
	// Prunes reports whether the object's controller deletes the objects that it manages
	// when it is deleted.
	Prunes bool `json:"p,omitempty"`
	// Kept reports whether the object is excluded from that.
	Kept bool `json:"k,omitempty"`
	// Ended and Unscheduled report whether it is a finished pod or a pod without a node.
	Ended       bool `json:"e,omitempty"`
	Unscheduled bool `json:"u,omitempty"`
	// Suspended reports whether its controller makes and prunes nothing.
	Suspended bool `json:"s,omitempty"`
}

// Deletion of a vertex.
type Deletion struct {
	Key Key `json:"vx"`
}

// Arc is a reference. A deleted arc has no attributes.
type Arc struct {
	From       Key        `json:"s"`
	To         Key        `json:"d"`
	Type       ArcType    `json:"t"`
	Attributes Attributes `json:"a,omitzero"`
}

// Key is the arc's identity.
func (a *Arc) Key() ArcKey { return ArcKey{From: a.From, To: a.To, Type: a.Type} }

// The types of warnings.
const (
	InformerSyncFailed     = "INFORMER_SYNC_FAILED"
	DiscoveryFailed        = "DISCOVERY_FAILED"
	NamespaceListFailed    = "NAMESPACE_LIST_FAILED"
	ObjectProcessingFailed = "OBJECT_PROCESSING_FAILED"
	AccessDenied           = "ACCESS_DENIED"
	LimitExceeded          = "LIMIT_EXCEEDED"
	RootNotFound           = "ROOT_NOT_FOUND"
)

// Warning says what keeps a graph from being all that was asked for. Type and
// Attributes identify it.
type Warning struct {
	Type string `json:"t"`
	// Message is for people.
	Message string `json:"m,omitempty"`
	// Attributes are those of the type: g, v, r, ns, n as in a Key.
	Attributes map[string]any `json:"a,omitempty"`
}

// Key is what the warning is about, as far as its attributes say.
func (w *Warning) Key() Key {
	text := func(name string) string {
		s, _ := w.Attributes[name].(string)
		return s
	}
	return Key{Group: text("g"), Version: text("v"), Resource: text("r"), Namespace: text("ns"), Name: text("n")}
}

// identity is the same for equal warnings: encoding/json sorts the members.
func (w *Warning) identity() string {
	attributes, err := json.Marshal(w.Attributes)
	if err != nil { // they were decoded from JSON
		return w.Type
	}
	return w.Type + string(attributes)
}

func parseMessage(text []byte) (*Message, error) {
	m := &Message{JSON: text}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("parse message: %w", err)
	}
	return m, nil
}

// rewrite changes the texts of the actions in JSON, and deletes members. All else stays as the server wrote it.
func (m *Message) rewrite(change func(actions []json.RawMessage) ([]json.RawMessage, error), without ...string) error {
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

// say makes a message of our own.
func say(m Message) *Message {
	text, err := json.Marshal(struct {
		Reset   bool      `json:"reset,omitempty"`
		Cleared []Warning `json:"cleared,omitempty"`
	}{m.Reset, m.Cleared})
	if err == nil { // it was decoded from JSON
		m.JSON = text
	}
	m.Own = true
	return &m
}
