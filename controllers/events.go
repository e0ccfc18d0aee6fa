package controllers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

// maxNote is what the API server allows the note of an Event, in bytes.
const maxNote = 1024

// actions say what was done when a condition changed. Conditions that are not
// here only repeat what others say and make no Events.
var actions = map[string]string{
	v1alpha1.ConditionAccepted: "Compile",
	v1alpha1.ConditionReady:    "Serve",
	v1alpha1.ConditionComplete: "Read",
}

// recordChanges makes an Event of every condition that says something new.
func (r *GraphViewReconciler) recordChanges(view *v1alpha1.GraphView, before, after []metav1.Condition) {
	for i := range after {
		c := &after[i]
		kind, ok := eventType(c)
		if !ok || !outcomeChanged(c, before) {
			continue
		}
		r.recorder.Eventf(view, nil, kind, c.Reason, actions[c.Type], "%s", cutBytes(c.Message, maxNote))
	}
}

// eventType returns the type of the Event for a condition, and whether it is
// worth one: what is not known yet is not, nor that a refused view is not ready.
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

// outcomeChanged is changed without the generation: an edit that leaves the
// outcome as it was is no news.
func outcomeChanged(c *metav1.Condition, before []metav1.Condition) bool {
	for i := range before {
		if b := &before[i]; b.Type == c.Type {
			return b.Status != c.Status || b.Reason != c.Reason
		}
	}
	return true
}
