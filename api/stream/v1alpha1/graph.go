package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Head has the members that make an answer a Kubernetes object.
type Head struct {
	// apiVersion is stream.graphview.dev/v1alpha1.
	APIVersion string `json:"apiVersion,omitempty"`
	// kind is the kind of the answer.
	Kind string `json:"kind,omitempty"`
	// metadata has the name, namespace and UID of the view, or the name of the cluster.
	Metadata *Metadata `json:"metadata,omitempty"`
}

// Metadata identifies a view or a cluster.
type Metadata struct {
	// name is the name of the view or cluster.
	Name string `json:"name"`
	// namespace is the namespace of the view.
	Namespace string `json:"namespace,omitempty"`
	// uid is the UID of the view.
	UID string `json:"uid,omitempty"`
}

// Graph is the graph of the view of the same name: the objects that the view selects and their references
// to each other. It is read-only. A list has the counts, a single graph the actions that build it.
type Graph struct {
	Head    `json:",inline"`
	*Counts `json:",inline"`

	// actions build the graph from an empty one, in this order: svx sets a vertex, sarc sets an arc.
	Actions []Action `json:"actions,omitempty"`
	// warnings are the reasons why the graph may lack objects.
	Warnings []Warning `json:"warnings,omitempty"`
	// kinds are the kinds of the resources that the view watches.
	Kinds []ResourceKind `json:"kinds,omitempty"`
	// rev is the revision of the graph. A stream with the parameter since continues from it.
	Rev string `json:"rev,omitempty"`
	// passed is about how many objects the user may see and the graph does not have, with only=problems.
	Passed int `json:"passed,omitempty"`
	// synced reports whether every selected resource has synced, or has a warning that says why not.
	Synced bool `json:"synced,omitempty"`
	// at is the time at which the graph was so, for a request with the parameter at. Absent for the graph
	// as it is now.
	At *metav1.MicroTime `json:"at,omitempty"`
}

// Counts describe a graph in a list. They are those of the view: the rights of the user do not
// change them.
type Counts struct {
	// vertices is the number of visible vertices.
	// +optional
	Vertices int `json:"vertices"`
	// arcs is the number of visible arcs.
	// +optional
	Arcs int `json:"arcs"`
	// roots is the number of root objects.
	// +optional
	Roots int `json:"roots"`
	// subscribers is the number of open subscriptions.
	// +optional
	Subscribers int `json:"subscribers"`
	// message says why the graph is not served.
	Message string `json:"message,omitempty"`
	// ineffective says which parts of the GraphView have no effect; empty if each has one. Absent if that
	// is not known yet, or if the user may not get the GraphView.
	Ineffective *string `json:"ineffective,omitempty"`
}

// GraphList is a list of graphs without their actions.
type GraphList struct {
	// apiVersion is stream.graphview.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// kind is GraphList.
	Kind string `json:"kind"`
	// metadata is the standard list metadata.
	Metadata metav1.ListMeta `json:"metadata"`
	// items are the graphs.
	Items []Graph `json:"items"`
}

// GraphObject is one object of a graph with its summary and its arcs.
type GraphObject struct {
	Head   `json:",inline"`
	Vertex `json:",inline"`

	// out are the arcs from the object, at most 1,000.
	Out []Arc `json:"out"`
	// in are the arcs to the object, at most 1,000.
	In []Arc `json:"in"`
	// more reports whether there are more arcs.
	More bool `json:"more,omitempty"`
}

// ClusterList is a list of the clusters of a fleet.
type ClusterList struct {
	// apiVersion is stream.graphview.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// kind is ClusterList.
	Kind string `json:"kind"`
	// items are the clusters, by name.
	Items []Cluster `json:"items"`
}

// Cluster is a cluster of a fleet.
type Cluster struct {
	// metadata has the name of the ClusterLink.
	Metadata Metadata `json:"metadata"`
	// displayName is a name for people.
	DisplayName string `json:"displayName,omitempty"`
	// aliases are names of the cluster in the objects of other clusters.
	Aliases []string `json:"aliases,omitempty"`
	// connected reports whether the graphs of the cluster can be opened.
	Connected bool `json:"connected"`
	// since is the time at which the cluster was connected, or lost. Absent if it has never been connected.
	Since *metav1.Time `json:"since,omitempty"`
}
