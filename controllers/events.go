package controllers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
)

// maxNote is the size of an Event's note that the API server allows, in bytes.
const maxNote = 1024

// actions maps conditions to the action of their Events. Other conditions
// repeat these, and their changes create no Events.
var actions = map[string]string{
	v1alpha1.ConditionAccepted: "Compile",
	v1alpha1.ConditionReady:    "Serve",
	v1alpha1.ConditionComplete: "Read",
}

// recordChanges creates an Event for each condition with a new outcome.
func recordChanges(recorder events.EventRecorder, about runtime.Object, before, after []metav1.Condition) {
	for i := range after {
		c := &after[i]
		kind, ok := eventType(c)
		if !ok || !outcomeChanged(c, before) {
			continue
		}
		recorder.Eventf(about, nil, kind, c.Reason, actions[c.Type], "%s", validation.Cut(c.Message, maxNote))
	}
}

// eventType returns the type of the Event for a condition, and whether there is an Event: there is none
// for Unknown, nor for Ready of a refused view, which follows from Accepted.
func eventType(c *metav1.Condition) (string, bool) {
	switch {
	case actions[c.Type] == "", c.Status == metav1.ConditionUnknown, c.Reason == v1alpha1.ReasonNotAccepted:
		return "", false
	case c.Status == metav1.ConditionTrue, c.Reason == v1alpha1.ReasonSyncing:
		return corev1.EventTypeNormal, true
	default:
		return corev1.EventTypeWarning, true
	}
}

// outcomeChanged reports whether before lacks the type of a condition, or has it with another outcome. The
// generation does not count: an edit of the spec with the same outcome creates no Event.
func outcomeChanged(c *metav1.Condition, before []metav1.Condition) bool {
	for i := range before {
		if b := &before[i]; b.Type == c.Type {
			return b.Status != c.Status || b.Reason != c.Reason
		}
	}
	return true
}
