package v1alpha1

import (
	"slices"
	"strings"
	"time"
)

// The healths that HealthAt returns. Others are as the server says.
const (
	HealthOK       = "ok"
	HealthDegraded = "degraded"
)

// Summary has the properties of an object that a list or a map of the graph shows. Times are in seconds
// since 1970, and absent if the object does not say.
type Summary struct {
	// k is the kind.
	Kind string `json:"k"`
	// h is the health; absent if the object does not say. From od on it is degraded.
	// +kubebuilder:validation:Enum=ok;suspended;terminating;progressing;degraded
	Health string `json:"h,omitempty"`
	// w is the reason for the health, in a word.
	Why string `json:"w,omitempty"`
	// rd is how many parts are ready, and how many should be. Absent if the kind has no parts.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=2
	Ready *[2]int64 `json:"rd,omitempty"`
	// end reports whether the object has ended, such as a pod that failed. It does not matter while the
	// controller that owns the object is ok.
	Ended bool `json:"end,omitempty"`
	// s is the time since which the object has this health.
	Since int64 `json:"s,omitempty"`
	// od is the time from which the object counts as degraded unless it changes.
	Overdue int64 `json:"od,omitempty"`
	// t is the time at which the object was created.
	Created int64 `json:"t,omitempty"`
	// app is the application that the object belongs to, by its labels.
	App string `json:"app,omitempty"`
	// u is the UID.
	UID string `json:"u"`
	// root reports whether the object is a root of the view.
	Root bool `json:"root,omitempty"`
	// del has the properties that affect deletions.
	Deletion *DeletionFacts `json:"del,omitempty"`
	// x are the references of the object to other clusters.
	Remote []RemoteReference `json:"x,omitempty"`
	// sel is a selector that must match an object in the namespace of the object.
	Selects *Selection `json:"sel,omitempty"`
	// pl are the labels of the pods that the object makes.
	PodLabels map[string]string `json:"pl,omitempty"`
}

// HealthAt returns the health at a time and its reason, if the object has not changed since: from Overdue
// on the object is degraded, and no message says so.
func (s *Summary) HealthAt(now time.Time) (health, why string) {
	if s.Overdue == 0 || now.Unix() < s.Overdue {
		return s.Health, s.Why
	}
	switch {
	case s.Health == HealthOK:
		return HealthDegraded, "Expired"
	case s.Health == "terminating" && s.Why == "":
		return HealthDegraded, "Terminating"
	}
	return HealthDegraded, s.Why
}

// DeletionFacts are the properties of an object that decide which objects a deletion deletes or breaks.
type DeletionFacts struct {
	// f are the finalizers.
	Finalizers []string `json:"f,omitempty"`
	// p reports whether the object's controller deletes the objects that it manages when it is deleted.
	Prunes bool `json:"p,omitempty"`
	// k reports whether the object is excluded from that.
	Kept bool `json:"k,omitempty"`
	// e reports whether the object is a finished pod.
	Ended bool `json:"e,omitempty"`
	// u reports whether the object is a pod without a node.
	Unscheduled bool `json:"u,omitempty"`
	// s reports whether the object's controller is suspended: it makes and prunes nothing.
	Suspended bool `json:"s,omitempty"`
	// g are the grants of a ReferenceGrant.
	Grants []Grant `json:"g,omitempty"`
}

// Grant allows the objects of a kind in another namespace to refer to those of a kind in the namespace
// of the ReferenceGrant.
type Grant struct {
	// fg is the group of the objects that refer.
	FromGroup string `json:"fg,omitempty"`
	// fk is their kind.
	FromKind string `json:"fk"`
	// ns is their namespace.
	Namespace string `json:"ns"`
	// tg is the group of the objects that are referred to.
	ToGroup string `json:"tg,omitempty"`
	// tk is their kind.
	ToKind string `json:"tk"`
	// tn is the name of the only object that may be referred to.
	ToName string `json:"tn,omitempty"`
}

// RemoteReference is a reference to an object in another cluster, which may exist or not. Without a
// kind it is to the cluster itself.
type RemoteReference struct {
	// d is the object's name for the cluster, such as argocd:https://eu-1.example.com. The ClusterLink of
	// a hub has it as an alias.
	Cluster string `json:"d"`
	// g is the group of the object in the cluster.
	Group string `json:"g,omitempty"`
	// k is its kind.
	Kind string `json:"k,omitempty"`
	// ns is its namespace.
	Namespace string `json:"ns,omitempty"`
	// n is its name.
	Name string `json:"n,omitempty"`
}

// Selection is a selector that has to select an object.
type Selection struct {
	// g is the group of the objects; empty is the core group.
	Group string `json:"g"`
	// k is their kind.
	Kind string `json:"k"`
	// q are the conditions on their labels.
	Requirements []Requirement `json:"q"`
}

// Requirement is one condition on a label.
type Requirement struct {
	// l is the label.
	Label string `json:"l"`
	// o is the operator.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator string `json:"o"`
	// v are the values.
	Values []string `json:"v,omitempty"`
}

// Matches reports whether the selector selects an object with these labels.
func (s *Selection) Matches(labels map[string]string) bool {
	return !slices.ContainsFunc(s.Requirements, func(r Requirement) bool {
		value, has := labels[r.Label]
		switch r.Operator {
		case "In":
			return !has || !slices.Contains(r.Values, value)
		case "NotIn":
			return has && slices.Contains(r.Values, value)
		case "Exists":
			return !has
		default:
			return has
		}
	})
}

// String returns the selector as kubectl writes it.
func (s *Selection) String() string {
	parts := make([]string, 0, len(s.Requirements))
	for _, r := range s.Requirements {
		values := "(" + strings.Join(r.Values, ",") + ")"
		switch {
		case r.Operator == "Exists":
			parts = append(parts, r.Label)
		case r.Operator == "DoesNotExist":
			parts = append(parts, "!"+r.Label)
		case r.Operator == "NotIn":
			parts = append(parts, r.Label+" notin "+values)
		case len(r.Values) == 1:
			parts = append(parts, r.Label+"="+r.Values[0])
		default:
			parts = append(parts, r.Label+" in "+values)
		}
	}
	return strings.Join(parts, ",")
}
