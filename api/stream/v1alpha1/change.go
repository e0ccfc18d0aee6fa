package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

// GraphChanges has the changes of the objects of a graph, or of one object and the objects that it leads
// to.
type GraphChanges struct {
	Head `json:",inline"`

	// object is the object that the question is about. Absent for the whole graph.
	Object *Key `json:"object,omitempty"`
	// changes are the changes, the newest first.
	Changes []Change `json:"changes"`
	// since is the time from which the history of these objects is complete, apart from gaps. It is later
	// than the time that was asked for if the history does not reach back that far.
	Since metav1.MicroTime `json:"since"`
	// until is the time of the answer. As since of the next question, it asks for the changes after these.
	Until metav1.MicroTime `json:"until"`
	// gaps are the times in which changes were not recorded one by one, the newest first.
	Gaps []Gap `json:"gaps,omitempty"`
	// more reports whether there are more changes than limit.
	More bool `json:"more,omitempty"`
	// leftOut has lines for people about the gaps of the answer.
	LeftOut []string `json:"leftOut,omitempty"`
}

// ChangesQuery asks for the changes of a graph, newest first. The parameters of a get have the same
// names, except that changes has the object.
type ChangesQuery struct {
	// object is the object that the question is about, as RESOURCE.GROUP/NAMESPACE/NAME. Absent for the
	// whole graph.
	Object string `json:"object,omitempty"`
	// since is the time of the oldest change, in RFC 3339 or as a duration before now, such as 2h. Absent:
	// all that the history has.
	Since string `json:"since,omitempty"`
	// until is the time of the newest change, in the forms of since. Absent: now.
	Until string `json:"until,omitempty"`
	// alone leaves out the objects that object leads to.
	Alone bool `json:"alone,omitempty"`
	// limit is the maximum number of changes, up to 1,000; 200 without it.
	Limit int `json:"limit,omitempty"`
}

// Gap is a time in which changes were not recorded one by one.
type Gap struct {
	// from is the beginning of the gap.
	From metav1.MicroTime `json:"from"`
	// until is its end.
	Until metav1.MicroTime `json:"until"`
	// why says why, for people.
	Why string `json:"why"`
}

// ChangeType is the type of a change. added and removed: the object appeared or disappeared. health: its
// health changed. content: fields of it changed. reference: a reference of it appeared or disappeared.
//
// +kubebuilder:validation:Enum=added;removed;health;content;reference
type ChangeType string

// The types of changes.
const (
	ChangeAdded     ChangeType = "added"
	ChangeRemoved   ChangeType = "removed"
	ChangeHealth    ChangeType = "health"
	ChangeContent   ChangeType = "content"
	ChangeReference ChangeType = "reference"
)

// Change is one change of one object. It has the member of its type.
type Change struct {
	// t is the time of the change, or of the last of a series.
	Time metav1.MicroTime `json:"t"`
	// f is the earliest time of the change, if it happened between f and t, such as while the operator was
	// down. With added, it is then the time at which the object was created.
	Earliest *metav1.MicroTime `json:"f,omitempty"`
	// vx identifies the object.
	Key Key `json:"vx"`
	// k is the kind of the object.
	Kind string `json:"k"`
	// u is the UID of the object.
	UID string `json:"u,omitempty"`
	// o is the controller of the object, as it was or is.
	Controller *Key `json:"o,omitempty"`
	// ok is the kind of the controller.
	ControllerKind string `json:"ok,omitempty"`
	// type is the type of the change.
	Type ChangeType `json:"type"`
	// health is the change of the health; with added, the health at first, and with removed, the last one.
	Health *HealthChange `json:"health,omitempty"`
	// paths are the fields that changed, with content. Absent if these are not known, since the object
	// changed while nothing was recorded.
	Paths []ChangedPath `json:"paths,omitempty"`
	// morePaths is the number of fields that changed beside those of paths.
	MorePaths int `json:"morePaths,omitempty"`
	// ref is the reference, with reference.
	Reference *ReferenceChange `json:"ref,omitempty"`
	// times is the number of changes of a series of equal changes that became one, between first and t.
	// Absent for one change.
	Times int `json:"times,omitempty"`
	// first is the time of the first change of a series.
	First *metav1.MicroTime `json:"first,omitempty"`
	// via says how the object of the question leads to this one. Absent for the object itself, and for
	// the changes of a whole graph.
	Via *ChangeVia `json:"via,omitempty"`
}

// HealthChange is a change of the health of an object, in the words of its summary. An absent word means
// that the object does not say.
type HealthChange struct {
	// from is the health before.
	// +kubebuilder:validation:Enum=ok;suspended;terminating;progressing;degraded
	From string `json:"from,omitempty"`
	// to is the health after.
	// +kubebuilder:validation:Enum=ok;suspended;terminating;progressing;degraded
	To string `json:"to,omitempty"`
	// why is the reason for to, in a word.
	Why string `json:"why,omitempty"`
}

// ChangedPath is a field that changed.
type ChangedPath struct {
	// p is the path below the object, such as spec.template.spec.containers[web].image: an element of a
	// list with names has its name in brackets, another one its index.
	Path string `json:"p"`
	// op says whether the field was added, removed or changed.
	// +kubebuilder:validation:Enum=added;removed;changed
	Op string `json:"op"`
	// b is the value before. Values are kept only of images, replicas, versions and other fields that
	// have no secrets.
	Before *string `json:"b,omitempty"`
	// a is the value after.
	After *string `json:"a,omitempty"`
}

// The operations of a ChangedPath, and of a ReferenceChange.
const (
	OpAdded   = "added"
	OpRemoved = "removed"
	OpChanged = "changed"
	OpMissing = "missing"
)

// ReferenceChange is a change of a reference of the object.
type ReferenceChange struct {
	// d is the destination.
	To Key `json:"d"`
	// k is the kind of the destination.
	Kind string `json:"k,omitempty"`
	// r is the type of the arc.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Enum=or;r;t
	Type v1alpha1.ArcType `json:"r"`
	// f has the fields of the arc.
	Fields []string `json:"f,omitempty"`
	// w has the words of the arc.
	Words []string `json:"w,omitempty"`
	// change is added or removed, or missing for an added arc without a destination.
	// +kubebuilder:validation:Enum=added;removed;missing
	Change string `json:"change"`
}

// ChangeVia is the last step of the shortest path from the object of the question to another object.
type ChangeVia struct {
	// vx is the neighbour of the object on the path.
	Key Key `json:"vx"`
	// k is the kind of the neighbour.
	Kind string `json:"k,omitempty"`
	// w has the words of the arc, which read from its source to its destination. An owner reference has
	// none.
	Words []string `json:"w,omitempty"`
	// up reports whether the arc leads from the object to the neighbour, such as from a pod to its owner.
	Up bool `json:"up,omitempty"`
	// depth is the number of arcs from the object of the question.
	Depth int `json:"depth"`
}
