package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReferenceRule declares the references of one kind and how its health is derived, for
// every GraphView. It is for custom resources whose schema does not say so.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=referencerules,singular=referencerule,scope=Cluster,shortName=gvrule,categories=graphview-all
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.from.kind`,description="The kind whose references are declared"
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.spec.from.group`,description="The API group of that kind"
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="Whether the rule is in force"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].reason`,description="Why the rule is in force or not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ReferenceRule struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec declares the references and the health of one kind.
	// +required
	Spec ReferenceRuleSpec `json:"spec,omitzero"`

	// status says whether the rule is in force. Until the operator has seen the
	// ReferenceRule its observedGeneration is -1, so that kstatus does not take it
	// for settled.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ReferenceRuleStatus `json:"status,omitzero"`
}

// ReferenceRuleList is a list of ReferenceRules.
//
// +kubebuilder:object:root=true
type ReferenceRuleList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the ReferenceRules.
	// +required
	Items []ReferenceRule `json:"items"`
}

// ReferenceRuleSpec declares the references and the health of one kind. References of
// several ReferenceRules for the same kind add up.
//
// +kubebuilder:validation:XValidation:rule="has(self.references) || has(self.health)",message="a rule declares references, health or both"
type ReferenceRuleSpec struct {
	// from is the kind that the rule applies to, in every version.
	// +required
	From GroupKind `json:"from,omitzero"`

	// references declare the references of objects of this kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	References []ReferenceDeclaration `json:"references,omitempty"`

	// conventions says whether references of the kind are also guessed from the names of
	// fields. Keep, the default: yes, except for the fields that a rule names. Replace:
	// no, and the condition Effective lists the skipped fields. If one of several
	// ReferenceRules for the kind says Replace, it is Replace. It has no effect without
	// references, and does not change built-in references.
	// +optional
	// +kubebuilder:default=Keep
	Conventions ConventionPolicy `json:"conventions,omitempty"`

	// health derives the health of objects of this kind, in place of the built-in rules.
	// If several ReferenceRules for the kind have one, they are tried in the order of
	// their names until one returns a health.
	// +optional
	Health *HealthDeclaration `json:"health,omitempty"`
}

// ConventionPolicy says whether conventions apply to a kind with declared references.
//
// +kubebuilder:validation:Enum=Keep;Replace
type ConventionPolicy string

// The policies of conventions.
const (
	ConventionsKeep    ConventionPolicy = "Keep"
	ConventionsReplace ConventionPolicy = "Replace"
)

// HealthDeclaration derives the health of an object.
type HealthDeclaration struct {
	// expression is a CEL expression that must evaluate to ok, progressing, degraded,
	// suspended or unknown, or to a map with one of these as state and, optionally,
	// reason (a word), ready and wanted (counts), and since (a time). An empty string
	// or map returns no health. Variables: obj (the object), group, version, resource,
	// kind, namespace, name (strings), labels and annotations (maps of strings).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Expression string `json:"expression,omitempty"`
}

// GroupKind names a kind in all its versions.
type GroupKind struct {
	// group is the API group of the kind; empty for Kubernetes' core.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of an API group such as apps or example.com, without a version; leave it out or empty for Kubernetes' core"
	Group string `json:"group,omitempty"`

	// kind is the name of the kind, as in a manifest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$')",message="must be the name of a kind such as Widget, as in a manifest's kind: not the plural of its resource, no patterns"
	Kind string `json:"kind,omitempty"`
}

// ReferenceDeclaration is one way in which an object refers to others: a field
// that holds names, or an expression.
//
// +kubebuilder:validation:XValidation:rule="has(self.path) != has(self.expression)",message="a reference has exactly one of path and expression: remove one, or make it two references"
// +kubebuilder:validation:XValidation:rule="has(self.to) == has(self.path)",message="path needs to, the kind of the objects that it names; an expression returns group and kind itself, without to"
// +kubebuilder:validation:XValidation:rule="!has(self.namespacePath) || has(self.path)",message="namespacePath needs path; an expression returns the namespace itself"
type ReferenceDeclaration struct {
	// path leads to the field that holds the name of the target, such as
	// spec.gadgets[].name: keys joined by dots, with [] for every element of a list,
	// {} for every value of a map, and ['…'] for a key with characters other than
	// letters, digits, '-', '_' and '$'.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// to is the kind of the target.
	// +optional
	To *GroupKind `json:"to,omitempty"`

	// namespacePath leads to the field that holds the namespace of the target, such
	// as spec.gadgets[].namespace. It enters the same lists as path, and name and
	// namespace come from the same element. If the field is absent or empty, the
	// target is in the object's own namespace. It is ignored for cluster-scoped kinds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	NamespacePath string `json:"namespacePath,omitempty"`

	// expression is a CEL expression that must evaluate to a list of maps with
	// group, kind, name and, optionally, namespace, all of them strings.
	// Variables: obj (the object), group, version, resource, kind, namespace, name
	// (strings), labels and annotations (maps of strings).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Expression string `json:"expression,omitempty"`

	// type is the type of the references: "r", the default, if the object itself uses the
	// target; "t" if it names the target for another object to use.
	// +optional
	// +kubebuilder:default=r
	Type ReferenceType `json:"type,omitempty"`

	// word describes the reference in a few words, read from the object to the target:
	// feeds, is backed up by. Graphs show it with the reference. If absent, the word is
	// derived from the name of the field, or is uses.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+( [a-z]+)*$')",message="must be lower-case words with single spaces between them, such as feeds or is backed up by"
	Word string `json:"word,omitempty"`
}

// ReferenceType is an ArcType that a rule can declare. Owner references are built in.
//
// +kubebuilder:validation:Enum=r;t
type ReferenceType string

// ReferenceRuleStatus says whether a ReferenceRule is in force.
type ReferenceRuleStatus struct {
	// observedGeneration is the metadata.generation that this status describes, or -1
	// before the operator has seen the ReferenceRule.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Accepted and Effective. Stalled is present only while the rule is
	// not accepted.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
