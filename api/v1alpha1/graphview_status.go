package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The bounds of a status, which the operator keeps when it writes one.
const (
	// MaxStatusResources bounds status.resources; resourceCount is not bounded.
	MaxStatusResources = 2048
	// MaxResourceMessage bounds the message of a resource, in characters.
	MaxResourceMessage = 256
	// MaxWarnings bounds status.warnings.
	MaxWarnings = 10
	// MaxWarning bounds a warning, in characters.
	MaxWarning = 1024
	// MaxConditionMessage bounds the message of a condition, in characters.
	MaxConditionMessage = 32768
)

// GraphViewStatus describes the graph and its contents. The operator writes it when it has changed,
// and changed counts at most once in a few seconds. It has no heartbeat. A written
// status has all counts, including zeros.
type GraphViewStatus struct {
	// observedGeneration is the metadata.generation that this status describes, or -1
	// before the operator has seen the GraphView.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Accepted, Ready, Complete, Effective and Healthy. Stalled is
	// present only while the view cannot progress until a user changes something.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// resources are the resources that the queries selected, sorted by group
	// and resource: the first 2,048.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2048
	Resources []ResourceStatus `json:"resources,omitempty"`

	// resourceCount is the number of resources that the queries selected.
	// +required
	// +kubebuilder:validation:Minimum=0
	ResourceCount int64 `json:"resourceCount"`

	// vertices is the number of visible objects.
	// +required
	// +kubebuilder:validation:Minimum=0
	Vertices int64 `json:"vertices"`

	// arcs is the number of visible references.
	// +required
	// +kubebuilder:validation:Minimum=0
	Arcs int64 `json:"arcs"`

	// roots is the number of root objects; 0 if the spec has no roots.
	// +required
	// +kubebuilder:validation:Minimum=0
	Roots int64 `json:"roots"`

	// health counts the visible objects by health. Absent while the graph is not
	// served.
	// +optional
	Health *HealthCounts `json:"health,omitempty"`

	// missing is the number of references to objects that are needed but do not exist.
	// It does not count optional references, nor references to objects that the view
	// cannot see because the spec excludes them, filters them by labels or fields, or
	// lacks the right to read them. Absent while the graph is not served.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Missing *int64 `json:"missing,omitempty"`

	// memory is the memory that the operator holds for this view alone, such as 3Mi,
	// rounded up. Objects and watches that views share do not count. A namespace that
	// holds too much gets LimitExceeded.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Memory string `json:"memory,omitempty"`

	// subscribers is the number of open subscriptions that read from the replica that
	// writes this status.
	// +required
	// +kubebuilder:validation:Minimum=0
	Subscribers int64 `json:"subscribers"`

	// warnings are the current warnings, in a stable order. They contain resources,
	// numbers and causes, but no names of objects and no values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=1024
	Warnings []string `json:"warnings,omitempty"`
}

// HealthCounts is the number of objects of each health.
type HealthCounts struct {
	// ok is the number of objects in the state that their specs ask for.
	// +required
	// +kubebuilder:validation:Minimum=0
	OK int64 `json:"ok"`

	// progressing is the number of objects that have not reached that state yet.
	// +required
	// +kubebuilder:validation:Minimum=0
	Progressing int64 `json:"progressing"`

	// degraded is the number of objects that failed or make no progress.
	// +required
	// +kubebuilder:validation:Minimum=0
	Degraded int64 `json:"degraded"`

	// suspended is the number of objects that are paused on purpose.
	// +required
	// +kubebuilder:validation:Minimum=0
	Suspended int64 `json:"suspended"`

	// terminating is the number of objects that are being deleted.
	// +required
	// +kubebuilder:validation:Minimum=0
	Terminating int64 `json:"terminating"`

	// unknown is the number of objects without a health, such as ConfigMaps and
	// Secrets.
	// +required
	// +kubebuilder:validation:Minimum=0
	Unknown int64 `json:"unknown"`
}

// ResourceStatus is the state of one selected resource.
type ResourceStatus struct {
	// group of the resource; "" is the core group.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group"`

	// version of the resource that is watched.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version"`

	// resource is the name of the resource in the plural, as in URLs.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Resource string `json:"resource"`

	// namespaced is true for namespaced resources, false for cluster-scoped ones.
	// +required
	Namespaced bool `json:"namespaced"`

	// objects is the number of the resource's objects in the graph, visible
	// from a root or not.
	// +required
	// +kubebuilder:validation:Minimum=0
	Objects int64 `json:"objects"`

	// synced reports whether the graph holds all selected objects of the resource.
	// +required
	Synced bool `json:"synced"`

	// message says why the resource is not synced; otherwise it is empty.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message"`
}
