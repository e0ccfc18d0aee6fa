package v1alpha1

// Verdict is the effect of the deletion of one object on another.
//
// +kubebuilder:validation:Enum=deleted;breaks now;probably breaks;cannot start again;loses an optional reference;unaffected
type Verdict string

// GraphImpact is the effect of the deletion of one object on the others of a graph.
type GraphImpact struct {
	Head `json:",inline"`

	// object is the object that the question is about.
	Object Key `json:"object"`
	// propagationPolicy says how the object is deleted.
	// +kubebuilder:validation:Enum=Background;Foreground;Orphan
	PropagationPolicy string `json:"propagationPolicy"`
	// counts are the numbers of objects of the graph, by verdict.
	Counts map[Verdict]int `json:"counts"`
	// groups are the objects by verdict and reason, the worst first. An unaffected object without a
	// reference to a deleted one is left out.
	Groups []ImpactGroup `json:"groups"`
	// unseen is the number of objects outside the graph that the user may see and that refer to
	// deleted ones.
	Unseen int `json:"unseen,omitempty"`
	// synced reports whether the graph was complete.
	Synced bool `json:"synced"`
	// warnings are the reasons why the graph may lack objects.
	Warnings []Warning `json:"warnings,omitempty"`
	// leftOut has lines for people about the gaps of the answer: resources that the user may not list or
	// that have not synced, other namespaces, inferred references.
	LeftOut []string `json:"leftOut,omitempty"`
}

// ImpactGroup has the objects with the same verdict for the same reason.
type ImpactGroup struct {
	// verdict is the effect on the objects.
	Verdict Verdict `json:"verdict"`
	// kind is the kind of the objects.
	Kind string `json:"kind"`
	// objects are the objects.
	Objects []Key `json:"objects"`
	// path leads from the first of objects to the object that the question is about.
	Path []ImpactStep `json:"path"`
	// holds delay the deletion of the objects.
	Holds []ImpactHold `json:"holds,omitempty"`
	// again is the controller that recreates the objects.
	Again *Key `json:"again,omitempty"`
}

// ImpactStep is one step of a path.
type ImpactStep struct {
	// s is the source.
	From Key `json:"s"`
	// d is the destination.
	To Key `json:"d"`
	// t is the type of the arc, or in for an object in a namespace or of a kind.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Enum=or;r;t;in
	Type ArcType `json:"t"`
	// f has the fields of the arc.
	Fields []string `json:"f,omitempty"`
	// w has the words of the arc.
	Words []string `json:"w,omitempty"`
	// reversed reports whether the arc leads from d to s.
	Reversed bool `json:"reversed,omitempty"`
}

// ImpactHold delays a deletion: a finalizer must be removed, or other objects must be deleted first.
type ImpactHold struct {
	// finalizer is the finalizer that must be removed.
	Finalizer string `json:"finalizer,omitempty"`
	// by are the objects that must be deleted first.
	By []Key `json:"by,omitempty"`
}
