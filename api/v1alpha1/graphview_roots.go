package v1alpha1

// Expression is a CEL expression in a list.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=10240
type Expression string

// ArcType is a type of references: "or" from an object to its owner, "r" from
// an object to another that it uses or selects, "t" from an object to another that it names
// for the use of a third.
//
// +kubebuilder:validation:Enum=or;r;t
type ArcType string

// The types of references.
const (
	ArcTypeOwnerReference ArcType = "or"
	ArcTypeReference      ArcType = "r"
	ArcTypeTransitive     ArcType = "t"
)

// Direction is the direction in which a graph is explored.
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
	// objects select root objects by kind, name, labels or the tool that deployed them.
	// An object is a root if one of objects or of objectSelectorExpressions selects it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Objects []RootObject `json:"objects,omitempty"`

	// objectSelectorExpressions are CEL expressions that must evaluate to a
	// bool; an object is a root if one of them is true. They are tried in
	// order, so put the ones first that are true most often. An empty list
	// restricts nothing. Variables: obj (the object), group, version, resource, kind,
	// namespace, name (strings), labels and annotations (maps of strings).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	ObjectSelectorExpressions []Expression `json:"objectSelectorExpressions,omitzero"`

	// ignoreArcDirection lists the types of references that are followed in both
	// directions. With "or", an object leads to the objects that it owns.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	IgnoreArcDirection []ArcType `json:"ignoreArcDirection,omitempty"`

	// follow says in which direction, and how far, the graph is explored from the roots.
	// Absent means along all references, and against the types in ignoreArcDirection.
	// +optional
	Follow *Follow `json:"follow,omitempty"`
}

// RootObject selects root objects by kind, name and labels, or by the release of Helm,
// Application of Argo CD, or Kustomization or HelmRelease of Flux that deploys them.
// A query must also select them.
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
	// are the Secrets or ConfigMaps of its revisions that are deployed or pending. For a
	// HelmRelease of Flux use fluxHelmRelease.
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

// Follow says in which direction, and how far, a graph is explored from its roots.
type Follow struct {
	// direction is Down, Up or Both. Down leads to the objects that an object refers to
	// or owns, which are its dependencies. Up leads to the objects that refer to it and
	// to its owners, which depend on it. Both goes down and up at each step.
	// +required
	Direction Direction `json:"direction"`

	// depth is the maximum number of references between an object and the nearest
	// root. 0, the default, means no maximum.
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
