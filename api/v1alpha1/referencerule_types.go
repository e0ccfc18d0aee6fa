package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReferenceRule declares what the objects of one kind refer to and how they are, for
// every GraphView. It is for kinds of which only their authors know that.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=referencerules,singular=referencerule,scope=Cluster
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.from.kind`,description="The kind whose references are declared"
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.spec.from.group`,description="The API group of that kind"
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="Whether the rule is in force"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].reason`,description="Why it is or is not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ReferenceRule struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says what objects refer to and how they are.
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

// ReferenceRuleSpec says what the objects of a kind refer to and how they are. The
// references of several ReferenceRules of one kind add up.
//
// +kubebuilder:validation:XValidation:rule="has(self.references) || has(self.health)",message="a rule declares references, health or both"
type ReferenceRuleSpec struct {
	// from is the kind of the objects that the rule is about, in every version.
	// +required
	From GroupKind `json:"from,omitzero"`

	// references are what these objects refer to.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	References []ReferenceDeclaration `json:"references,omitempty"`

	// conventions says what becomes of the references that are guessed by convention of
	// the kind. Keep: they stay, but for those of the fields that a rule names. Replace:
	// there are none, and the condition Effective lists the fields. It has no effect
	// without references, and what is known of the kind otherwise stays. Where several
	// ReferenceRules are about the kind, one that says Replace is enough. Keep if absent.
	// +optional
	// +kubebuilder:default=Keep
	Conventions ConventionPolicy `json:"conventions,omitempty"`

	// health says how these objects are, in place of what is known of the kind. Of
	// several ReferenceRules of the kind the first one that has an opinion of an object
	// counts, in the order of their names.
	// +optional
	Health *HealthDeclaration `json:"health,omitempty"`
}

// ConventionPolicy says what becomes of conventions where a rule declares references.
//
// +kubebuilder:validation:Enum=Keep;Replace
type ConventionPolicy string

// The policies of conventions.
const (
	ConventionsKeep    ConventionPolicy = "Keep"
	ConventionsReplace ConventionPolicy = "Replace"
)

// HealthDeclaration says how an object is.
type HealthDeclaration struct {
	// expression is a CEL expression that must evaluate to ok, progressing, degraded,
	// suspended or unknown, or to a map with one of these as state and, optionally,
	// reason (a word), ready and wanted (counts), and since (a time). An empty string
	// or map is no opinion. Variables: obj (the object), group, version, resource,
	// kind, namespace, name (strings), labels and annotations (maps of strings).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Expression string `json:"expression,omitempty"`
}

// GroupKind names a kind of objects, whatever its version.
type GroupKind struct {
	// group is the API group of the kind; empty for Kubernetes' core.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of an API group such as apps or example.com, without a version; leave it out or empty for Kubernetes' core"
	Group string `json:"group,omitempty"`

	// kind is the kind's name, as manifests have it.
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
// +kubebuilder:validation:XValidation:rule="has(self.to) == has(self.path)",message="to goes with path, and path needs it: it says of which kind the names at path are; an expression names group and kind itself"
// +kubebuilder:validation:XValidation:rule="!has(self.namespacePath) || has(self.path)",message="namespacePath goes with path; an expression names the namespace itself"
type ReferenceDeclaration struct {
	// path leads to the field that holds the name of what is referred to: keys
	// joined by dots, with [] after a list of which every element counts, {}
	// after a map of which every value does, and ['…'] for a key with other
	// characters than letters, digits, '-', '_' and '$'. Such as
	// spec.gadgets[].name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// to is the kind of what is referred to.
	// +optional
	To *GroupKind `json:"to,omitempty"`

	// namespacePath leads to the field that holds the namespace of what is
	// referred to. The lists that it enters are those that path enters, and
	// then it means the same element: spec.gadgets[].namespace. Where there is
	// no such field or it is empty, the object's own namespace is meant; what is
	// cluster-scoped has none either way.
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

	// type is that of the arcs: "r" if the object itself uses what it refers
	// to, "t" if it names it for something else to use. "r" if absent.
	// +optional
	// +kubebuilder:default=r
	Type ReferenceType `json:"type,omitempty"`

	// word says in a word or a few what the reference means, read from the object to
	// what it refers to: feeds, is backed up by. Graphs show it with the reference. If
	// absent, the word is what the field's name suggests, or uses.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+( [a-z]+)*$')",message="must be lower-case words with single spaces between them, such as feeds or is backed up by"
	Word string `json:"word,omitempty"`
}

// ReferenceType is an ArcType that may be declared: owners declare themselves.
//
// +kubebuilder:validation:Enum=r;t
type ReferenceType string

// ReferenceRuleStatus says whether a ReferenceRule is in force.
type ReferenceRuleStatus struct {
	// observedGeneration is the generation of the spec that the status is of, -1
	// before there is any.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Accepted, Effective and, only while the rule is not accepted,
	// Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
