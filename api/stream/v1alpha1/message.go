package v1alpha1

import "encoding/json"

// Message is one message of a stream. Members that would be empty are absent.
type Message struct {
	// actions change the graph, in this order.
	Actions []Action `json:"actions,omitempty"`
	// warnings are live from now on. They replace warnings of equal identity.
	Warnings []Warning `json:"warnings,omitempty"`
	// cleared are the warnings that are over, by type and attributes.
	Cleared []Warning `json:"cleared,omitempty"`
	// kinds are the kinds of the resources that the view watches. They are sent once for each
	// connection, and again when they have changed.
	Kinds []ResourceKind `json:"kinds,omitempty"`
	// error says why the stream ends. It is in the last message.
	Error *CloseError `json:"error,omitempty"`
	// rev is the revision of the graph. With it, and only with it, the graph of the client is the graph
	// of the view at one instant. The parameter since continues from it.
	Rev string `json:"rev,omitempty"`
	// synced reports whether the graph is complete: every selected resource has synced, or has a warning
	// that says why not.
	Synced bool `json:"synced,omitempty"`
	// reset comes before the actions of the message: the client forgets its graph.
	Reset bool `json:"reset,omitempty"`
	// keep, with reset, has the buckets that the client does not forget, as BITS.BUCKETS.
	Keep string `json:"keep,omitempty"`
	// syncing reports whether the server still reads the cluster. The graph of the client stays as
	// it is until the server has read everything.
	Syncing bool `json:"syncing,omitempty"`
}

// Action changes a graph. It has one of its members.
type Action struct {
	// svx sets a vertex.
	SetVertex *Vertex `json:"svx,omitempty"`
	// dvx deletes a vertex.
	DeleteVertex *Deletion `json:"dvx,omitempty"`
	// sarc sets an arc.
	SetArc *Arc `json:"sarc,omitempty"`
	// darc deletes an arc, by s, d and t.
	DeleteArc *Arc `json:"darc,omitempty"`
}

// Deletion deletes a vertex.
type Deletion struct {
	// vx identifies the vertex.
	Key Key `json:"vx"`
}

// Vertex is an object of the cluster. At most one of o, j, f and m is there; a Secret has at most m.
type Vertex struct {
	// vx identifies the vertex.
	Key Key `json:"vx"`
	// c is the tag of the content, another one for another content, for clients that send have.
	Tag string `json:"c,omitempty"`
	// o is the object, without managedFields. Secrets have none.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Object json.RawMessage `json:"o,omitempty"`
	// j is the list of the values at the view's jsonPath, in place of the object.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=array
	Parts json.RawMessage `json:"j,omitempty"`
	// f has the values of the view's fields by their names, in place of the object.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Fields json.RawMessage `json:"f,omitempty"`
	// m is a summary in place of the object, for content=summary.
	Summary *Summary `json:"m,omitempty"`
}

// ResourceKind is the kind of the objects of a resource.
type ResourceKind struct {
	// g is the group; empty is the core group.
	Group string `json:"g"`
	// v is the version.
	Version string `json:"v"`
	// r is the resource.
	Resource string `json:"r"`
	// k is the kind.
	Kind string `json:"k"`
	// a reports whether the graph has all objects of the resource in the namespaces of the view, except
	// for the objects in warnings.
	All bool `json:"a,omitempty"`
}

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

// Warning is a reason why the graph may lack objects. t and a identify it.
type Warning struct {
	// t is the type, such as ACCESS_DENIED.
	Type string `json:"t"`
	// m is a text for people.
	Message string `json:"m,omitempty"`
	// a has the subject: g, v, r, ns and n as in a key.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Attributes map[string]any `json:"a,omitempty"`
}

// Key returns the subject of the warning, as far as its attributes name one.
func (w *Warning) Key() Key {
	text := func(name string) string {
		s, _ := w.Attributes[name].(string)
		return s
	}
	return Key{Group: text("g"), Version: text("v"), Resource: text("r"), Namespace: text("ns"), Name: text("n")}
}

// Identity is equal for equal warnings: encoding/json sorts the members.
func (w *Warning) Identity() string {
	attributes, err := json.Marshal(w.Attributes)
	if err != nil { // they were decoded from JSON
		return w.Type
	}
	return w.Type + string(attributes)
}
