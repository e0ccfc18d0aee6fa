package v1alpha1

import "graphview.dev/api/v1alpha1"

// ClientMessage is a message of a client on a connection for many graphs. It has either subscribe or
// unsubscribe.
type ClientMessage struct {
	// id is repeated in the answer.
	ID *int64 `json:"id"`
	// subscribe asks for a graph.
	Subscribe *Subscribe `json:"subscribe,omitempty"`
	// unsubscribe ends a channel.
	Unsubscribe *Unsubscribe `json:"unsubscribe,omitempty"`
}

// Subscribe asks for the graph of a GraphView, by namespace and name, or for that of an ad-hoc view, by
// spec.
type Subscribe struct {
	// cluster is the name of the ClusterLink of the cluster that has the GraphView.
	Cluster string `json:"cluster,omitempty"`
	// namespace is the namespace of the GraphView.
	Namespace string `json:"namespace,omitempty"`
	// name is the name of the GraphView.
	Name string `json:"name,omitempty"`
	// since is the revision of the last whole graph that the client has.
	Since string `json:"since,omitempty"`
	// have has the sums of the graph of the client, as BITS.SEED.SUMS; none, if it has nothing.
	Have string `json:"have,omitempty"`
	// content is the content of each vertex.
	// +kubebuilder:validation:Enum=object;summary;none
	Content string `json:"content,omitempty"`
	// root narrows the graph to these objects and the objects that they lead to, each as
	// RESOURCE.GROUP/NAMESPACE/NAME.
	Root []string `json:"root,omitempty"`
	// direction is the direction from root; Down without it.
	// +kubebuilder:validation:Enum=Down;Up;Both
	Direction string `json:"direction,omitempty"`
	// depth is the maximum number of references from the nearest object of root; 0 means no maximum.
	Depth int `json:"depth,omitempty"`
	// impact asks for the effect of the deletion of this object, in place of the graph.
	Impact string `json:"impact,omitempty"`
	// propagationPolicy, with impact, says how the object is deleted.
	PropagationPolicy string `json:"propagationPolicy,omitempty"`
	// changes asks for the changes of the graph, in place of the graph.
	Changes *ChangesQuery `json:"changes,omitempty"`
	// at asks for the graph as it was at this time, in the forms of since of changes. It is sent once.
	At string `json:"at,omitempty"`
	// spec declares an ad-hoc view. It is the spec of a GraphView without serviceAccountName. The view has the rights of
	// its user and exists while the channel is open.
	Spec *v1alpha1.GraphViewSpec `json:"spec,omitempty"`
}

// Unsubscribe ends a channel.
type Unsubscribe struct {
	// channel is the number of the channel.
	Channel int64 `json:"channel"`
}

// ServerMessage is a message of the server on a connection for many graphs: the answer to a message of
// the client, with its id, or a message of a channel.
type ServerMessage struct {
	// id is the id of the client's message.
	ID *int64 `json:"id,omitempty"`
	// channel is the number of the channel. Numbers are never used again.
	Channel int64 `json:"channel,omitempty"`

	Message `json:",inline"`

	// impact is the answer to a question.
	Impact *GraphImpact `json:"impact,omitempty"`
	// changes is the answer to a question about changes.
	Changes *GraphChanges `json:"changes,omitempty"`
}

// HaveMessage is the only message of a client on a connection for one graph, with the parameter
// have=message.
type HaveMessage struct {
	// have has the sums of the graph of the client.
	Have string `json:"have"`
}
