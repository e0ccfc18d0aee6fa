package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GraphView declares a live graph of Kubernetes objects and the references
// between them. Subscribers open the graph by the name of its GraphView.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=graphviews,singular=graphview,scope=Namespaced,shortName=gv,categories=graphview-all
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the graph is served"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the graph is served or not"
// +kubebuilder:printcolumn:name="Effective",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Effective")].status`,description="Whether each part of the spec has an effect. The condition names the parts without one"
// +kubebuilder:printcolumn:name="Health",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].reason`,description="Health of the visible objects: OK, or the worst state"
// +kubebuilder:printcolumn:name="Missing",type=integer,JSONPath=`.status.missing`,description="References to objects that are needed but do not exist"
// +kubebuilder:printcolumn:name="Resources",type=integer,priority=1,JSONPath=`.status.resourceCount`,description="Resources that the queries selected"
// +kubebuilder:printcolumn:name="Objects",type=integer,JSONPath=`.status.vertices`,description="Visible objects"
// +kubebuilder:printcolumn:name="References",type=integer,priority=1,JSONPath=`.status.arcs`,description="Visible references"
// +kubebuilder:printcolumn:name="Subscribers",type=integer,JSONPath=`.status.subscribers`,description="Open subscriptions"
// +kubebuilder:printcolumn:name="Memory",type=string,priority=1,JSONPath=`.status.memory`,description="Memory that the operator holds for this view alone"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="Why the graph is not served as it is declared, and the remedy"
type GraphView struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its name is the name that
	// subscribers use.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec selects the contents of the graph.
	// +required
	Spec GraphViewSpec `json:"spec,omitzero"`

	// status describes the present graph. Until the operator has seen the
	// GraphView its observedGeneration is -1, so that kstatus does not take it for
	// settled.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1,"resourceCount":0,"vertices":0,"arcs":0,"roots":0,"subscribers":0}
	Status GraphViewStatus `json:"status,omitzero"`
}

// GraphViewList is a list of GraphViews.
//
// +kubebuilder:object:root=true
type GraphViewList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the GraphViews.
	// +required
	Items []GraphView `json:"items"`
}

// GraphViewSpec selects the contents of a graph.
//
// +kubebuilder:validation:XValidation:rule=`self.queries.map(q, size(q.?exclude.?resourceSelectorExpression.orValue("")) + size(q.?include.?resourceSelectorExpression.orValue("")) + size(q.?include.?object.?labelSelector.orValue("")) + size(q.?include.?object.?fieldSelector.orValue("")) + size(q.?include.?object.?objectSelectorExpression.orValue("")) + size(q.?include.?object.?jsonPath.orValue("")) + (has(q.include) && has(q.include.object) && has(q.include.object.fields) ? q.include.object.fields.map(name, size(name) + size(q.include.object.fields[name])).sum() : 0)).sum() + size(self.?namespaces.?labelSelector.orValue("")) + size(self.?namespaces.?fieldSelector.orValue("")) + size(self.?namespaces.?objectSelectorExpression.orValue("")) + (has(self.roots) && has(self.roots.objectSelectorExpressions) ? self.roots.objectSelectorExpressions.map(e, size(e)).sum() : 0) <= 65536`,message="expressions, selectors and paths must have at most 65536 characters together: shorten them, or write several GraphViews"
type GraphViewSpec struct {
	// queries select the resources of the graph. Each group/version/resource that
	// the cluster serves is matched against the queries in order, and the first query
	// that matches includes or excludes it. A resource that no query matches is left out.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Queries []Query `json:"queries,omitempty"`

	// namespaces restricts namespaced objects to some namespaces. Absent means
	// all namespaces. Cluster-scoped objects are selected by queries alone.
	// +optional
	Namespaces *Namespaces `json:"namespaces,omitempty"`

	// roots restricts the graph to some objects and the objects that can be reached
	// from them. Absent means all selected objects.
	// +optional
	Roots *Roots `json:"roots,omitempty"`

	// inferredReferences says whether the graph has references that are inferred from
	// an address, or from a key that contains a kind: Include, the default, or Exclude.
	// An inferred reference exists only while its target exists, and its field begins
	// with inferred/.
	// +optional
	// +kubebuilder:validation:Enum=Include;Exclude
	InferredReferences InferredReferences `json:"inferredReferences,omitempty"`

	// serviceAccountName names a ServiceAccount in the GraphView's namespace.
	// The graph then contains only objects that the account may list and watch. It is
	// required unless the operator runs with --require-service-account=false.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a ServiceAccount in the GraphView's namespace: lower case letters, digits, '-' and '.', without a namespace or prefix"
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// InferredReferences says whether inferred references are in a graph.
type InferredReferences string

// The values of inferredReferences.
const (
	IncludeInferred InferredReferences = "Include"
	ExcludeInferred InferredReferences = "Exclude"
)

// Query includes or excludes the resources that it matches.
//
// +kubebuilder:validation:XValidation:rule="has(self.include) != has(self.exclude)",message="a query has exactly one of include and exclude: remove one, or make it two queries in the order in which they should be tried"
type Query struct {
	// include adds the resources that it matches to the graph.
	// +optional
	Include *Include `json:"include,omitempty"`

	// exclude keeps the resources that it matches out of the graph, even if a later
	// query includes them.
	// +optional
	Exclude *Exclude `json:"exclude,omitempty"`
}

// Include selects resources, and optionally some of their objects and fields.
type Include struct {
	// resourceSelectorExpression is a CEL expression that must evaluate to a
	// bool. Variables: group, version, resource, kind (strings) and namespaced (bool).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	ResourceSelectorExpression string `json:"resourceSelectorExpression,omitempty"`

	// object selects among the objects of the matched resources. Absent means
	// all of them, whole.
	// +optional
	Object *ObjectFilter `json:"object,omitempty"`
}

// Exclude keeps the resources that it matches out of the graph.
type Exclude struct {
	// resourceSelectorExpression is a CEL expression that must evaluate to a
	// bool. Variables: group, version, resource, kind (strings) and namespaced (bool).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	ResourceSelectorExpression string `json:"resourceSelectorExpression,omitempty"`
}

// ObjectFilter selects objects, and parts of them. An absent or empty field
// selects everything.
//
// +kubebuilder:validation:XValidation:rule="has(self.labelSelector) || has(self.fieldSelector) || has(self.objectSelectorExpression) || has(self.jsonPath) || has(self.fields)",message="object is empty: give at least one of labelSelector, fieldSelector, objectSelectorExpression, fields and jsonPath, or leave object out to include all objects"
// +kubebuilder:validation:XValidation:rule="!has(self.fields) || !has(self.jsonPath) || size(self.jsonPath) == 0",message="fields and jsonPath exclude each other: fields names what jsonPath returns as a list"
type ObjectFilter struct {
	// labelSelector selects objects by their labels, in the syntax of
	// "kubectl get -l".
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	LabelSelector string `json:"labelSelector,omitempty"`

	// fieldSelector selects objects by fields that the API server supports for
	// the resource, in the syntax of "kubectl get --field-selector".
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	FieldSelector string `json:"fieldSelector,omitempty"`

	// objectSelectorExpression is a CEL expression that must evaluate to a
	// bool. Variables: obj (the object), group, version, resource, kind, namespace,
	// name (strings), labels and annotations (maps of strings).
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	ObjectSelectorExpression string `json:"objectSelectorExpression,omitempty"`

	// fields maps names to JSON paths, such as .status.phase. Subscribers get the value
	// at each path under its name, in place of the whole object. A path with a wildcard,
	// slice, filter or .. yields a list. Fields that an object lacks are absent.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_.-]{0,62}$'))",message="a field's name has at most 63 letters, digits, '_', '.' and '-', and begins with a letter or '_'"
	Fields map[string]FieldPath `json:"fields,omitempty"`

	// jsonPath selects the parts of an object that subscribers get, as a list without
	// names, in the syntax of "kubectl get -o jsonpath". Without it and without fields
	// they get whole objects.
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	JSONPath string `json:"jsonPath,omitempty"`
}

// FieldPath is a JSON path of one part of an object, such as .status.phase.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
type FieldPath string

// NamespaceName is the name of a namespace.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a namespace: lower case letters, digits and '-', no patterns; use labelSelector or objectSelectorExpression to select namespaces by what they have in common"
type NamespaceName string

// Namespaces selects namespaces, by name or by selectors.
//
// +kubebuilder:validation:XValidation:rule="has(self.names) || has(self.labelSelector) || has(self.fieldSelector) || has(self.objectSelectorExpression)",message="namespaces is empty: give names, labelSelector, fieldSelector or objectSelectorExpression, or leave namespaces out to select all namespaces"
// +kubebuilder:validation:XValidation:rule="!has(self.names) || ((!has(self.labelSelector) || size(self.labelSelector) == 0) && (!has(self.fieldSelector) || size(self.fieldSelector) == 0))",message="names excludes labelSelector and fieldSelector: name the namespaces or select them, not both; objectSelectorExpression goes with either"
type Namespaces struct {
	// names are the namespaces to select, whether they exist yet or not.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1024
	Names []NamespaceName `json:"names,omitempty"`

	// labelSelector selects namespaces by their labels, in the syntax of
	// "kubectl get -l".
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	LabelSelector string `json:"labelSelector,omitempty"`

	// fieldSelector selects namespaces by their fields, in the syntax of
	// "kubectl get --field-selector".
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	FieldSelector string `json:"fieldSelector,omitempty"`

	// objectSelectorExpression is a CEL expression that must evaluate to a
	// bool; it selects among the namespaces that the other fields leave.
	// Variables: obj (the Namespace), group, version, resource, kind, namespace
	// (empty), name (strings), labels and annotations (maps of strings).
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	ObjectSelectorExpression string `json:"objectSelectorExpression,omitempty"`
}
