package v1alpha1

// Expression is a CEL expression in a list.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=10240
type Expression string

// ArcType is a type of references: "or" from an object to its owner, "r" from
// an object to what it uses or selects, "t" from an object to what it names
// for something else to use.
//
// +kubebuilder:validation:Enum=or;r;t
type ArcType string

// The types of references.
const (
	ArcTypeOwnerReference ArcType = "or"
	ArcTypeReference      ArcType = "r"
	ArcTypeTransitive     ArcType = "t"
)

// Direction says which way a graph is explored.
//
// +kubebuilder:validation:Enum=Down;Up;Both
type Direction string

// The directions.
const (
	DirectionDown Direction = "Down"
	DirectionUp   Direction = "Up"
	DirectionBoth Direction = "Both"
)

// Roots selects the objects from which a graph is explored.
//
// +kubebuilder:validation:XValidation:rule="!has(self.follow) || !has(self.ignoreArcDirection) || size(self.ignoreArcDirection) == 0",message="follow and ignoreArcDirection exclude each other: follow says by its direction which references are followed against theirs"
// +kubebuilder:validation:XValidation:rule="has(self.objects) || has(self.objectSelectorExpressions)",message="roots needs objects or objectSelectorExpressions, which select the root objects: leave roots out to see everything"
type Roots struct {
	// objects select root objects by what they are, without an expression: an object is
	// a root if one of them, or one of objectSelectorExpressions, selects it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Objects []RootObject `json:"objects,omitempty"`

	// objectSelectorExpressions are CEL expressions that must evaluate to a
	// bool; an object is a root if one of them is true. They are tried in
	// order, so put those that are likely to be true first. An empty list
	// restricts nothing. Variables: obj (the object), group, version, resource, kind,
	// namespace, name (strings), labels and annotations (maps of strings).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	ObjectSelectorExpressions []Expression `json:"objectSelectorExpressions,omitzero"`

	// ignoreArcDirection lists the types of references that are followed
	// against their direction, too: with "or", what an object owns is reached
	// from it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	IgnoreArcDirection []ArcType `json:"ignoreArcDirection,omitempty"`

	// follow says which way the graph is explored from the roots, in terms of
	// what depends on what, and how far. Absent means along all references, and
	// against those of ignoreArcDirection.
	// +optional
	Follow *Follow `json:"follow,omitempty"`
}

// RootObject selects root objects by kind, name and labels, or as what a release of
// Helm, an Application of Argo CD, or a Kustomization or HelmRelease of Flux deploys.
// Like everything in a graph, a root has to be selected by the queries.
//
// +kubebuilder:validation:XValidation:rule="(has(self.kind) || has(self.labelSelector) ? 1 : 0) + (has(self.helmRelease) ? 1 : 0) + (has(self.argoApplication) ? 1 : 0) + (has(self.fluxKustomization) ? 1 : 0) + (has(self.fluxHelmRelease) ? 1 : 0) == 1",message="say in exactly one way what the object is: by kind, labelSelector or both; or by one of helmRelease, argoApplication, fluxKustomization and fluxHelmRelease; make it several objects to have several roots"
// +kubebuilder:validation:XValidation:rule="has(self.kind) || !has(self.group) && !has(self.name)",message="group and name go with a kind: add kind, such as Deployment"
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !has(self.labelSelector)",message="name and labelSelector exclude each other: name one object, or select objects by their labels"
type RootObject struct {
	// group of the kind; "" is the core group. Absent means any group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be an API group without a version, such as apps; the core group is an empty string"
	Group *string `json:"group,omitempty"`

	// kind of the objects, such as Deployment.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$')",message="must be a kind, such as Deployment, without group or version"
	Kind string `json:"kind,omitempty"`

	// namespace of the objects. Absent means any namespace.
	// +optional
	Namespace NamespaceName `json:"namespace,omitempty"`

	// name of the object. Absent means any name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// labelSelector selects objects by their labels, in the syntax of
	// "kubectl get -l".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	LabelSelector string `json:"labelSelector,omitempty"`

	// helmRelease is the name of a release of Helm, as "helm list" prints it. The roots
	// are the Secrets or ConfigMaps in which Helm keeps its revisions that are deployed
	// or about to be. For a HelmRelease of Flux use fluxHelmRelease.
	// +optional
	HelmRelease ReleaseName `json:"helmRelease,omitempty"`

	// argoApplication is the name of an Application of Argo CD.
	// +optional
	ArgoApplication ObjectName `json:"argoApplication,omitempty"`

	// fluxKustomization is the name of a Kustomization of Flux.
	// +optional
	FluxKustomization ObjectName `json:"fluxKustomization,omitempty"`

	// fluxHelmRelease is the name of a HelmRelease of Flux.
	// +optional
	FluxHelmRelease ObjectName `json:"fluxHelmRelease,omitempty"`
}

// ObjectName is the name of an object.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of an object: lower case letters, digits, '-' and '.', without a namespace, no patterns"
type ObjectName string

// ReleaseName is the name of a release of Helm.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=53
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a release, as helm list prints it: lower case letters, digits, '-' and '.', without a revision, no patterns"
type ReleaseName string

// Follow says which way a graph is explored from its roots.
type Follow struct {
	// direction is Down for what an object needs and has: what it refers to, and
	// what it owns. Up is for what would notice a change of an object: what refers
	// to it, and its owners. Both is down and up at each step.
	// +required
	Direction Direction `json:"direction"`

	// depth is how many references there may be between an object and the
	// nearest root. 0, the default, means any number.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	Depth int32 `json:"depth,omitempty"`

	// types are the types of references to follow. Empty means all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	Types []ArcType `json:"types,omitempty"`
}
