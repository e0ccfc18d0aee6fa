package controllers

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
)

// conditionSetter returns a function that sets a condition for the spec of a generation. It cuts long messages.
func conditionSetter(conditions *[]metav1.Condition, generation int64) func(kind string, status metav1.ConditionStatus, reason, message string) {
	return func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, ObservedGeneration: generation, Reason: reason,
			Message: validation.Cut(message, v1alpha1.MaxConditionMessage),
		})
	}
}

// setConditions sets conditions from the verdict and the engine's status for the spec of that
// generation. wasReady means that this spec's graph was complete before; a resource that
// appears later does not make it unready.
//
// Messages contain no counts and no times, so that conditions are written only when the
// outcome changes.
func setConditions(conditions *[]metav1.Condition, generation int64, v verdict, st *graphview.Status, wasReady bool) {
	set := conditionSetter(conditions, generation)
	unserved := func(reason, message string) {
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
		set(v1alpha1.ConditionComplete, metav1.ConditionUnknown, reason, "Nothing is read while the graph is not served.")
		set(v1alpha1.ConditionEffective, metav1.ConditionUnknown, reason, "Nothing is known while the graph is not served.")
		set(v1alpha1.ConditionHealthy, metav1.ConditionUnknown, reason, "Nothing is known while the graph is not served.")
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason, message)
	}

	if !v.accepted() {
		set(v1alpha1.ConditionAccepted, metav1.ConditionFalse, v.reason, v.message)
		unserved(v1alpha1.ReasonNotAccepted, "The spec is not accepted: "+v.message)
		return
	}
	set(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v.reason, v.message)
	if st.LimitExceeded != "" {
		unserved(v1alpha1.ReasonLimitExceeded, st.LimitExceeded)
		return
	}

	synced, unreadable := st.Synced || wasReady, unreadableResources(st.Resources)
	if synced {
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, served(unreadable != "", len(st.Advice) > 0))
	} else {
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSyncing,
			"Selected resources are being listed; the graph is served as it fills.")
	}
	switch {
	case !synced:
		// Unreadable resources are known once all resources have been tried.
		set(v1alpha1.ConditionComplete, metav1.ConditionUnknown, v1alpha1.ReasonSyncing, "Selected resources are being listed.")
	case unreadable != "":
		set(v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonResourcesUnreadable, unreadable)
	default:
		set(v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete, "Every selected resource can be read.")
	}
	setEffective(set, synced, st.Advice)
	setHealthy(set, synced, st)
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
}

// served is the message of a graph that is served, and names the conditions to read.
func served(unreadable, ineffective bool) string {
	switch {
	case unreadable && ineffective:
		return "The graph is served without resources that cannot be read, and parts of the spec have no effect: see Complete and Effective."
	case unreadable:
		return "The graph is served without resources that cannot be read: see Complete."
	case ineffective:
		return "The graph is served, but parts of the spec have no effect: see Effective."
	}
	return "The graph is served."
}

// setEffective sets Effective from the parts of the spec that have no effect.
func setEffective(set func(kind string, status metav1.ConditionStatus, reason, message string), synced bool, findings []advice.Finding) {
	switch {
	case !synced:
		set(v1alpha1.ConditionEffective, metav1.ConditionUnknown, v1alpha1.ReasonSyncing, "Selected resources are being listed.")
	case len(findings) == 0:
		set(v1alpha1.ConditionEffective, metav1.ConditionTrue, v1alpha1.ReasonEffective, "Each part of the spec has an effect.")
	default:
		set(v1alpha1.ConditionEffective, metav1.ConditionFalse, string(findings[0].Reason), strings.Join(advice.Texts(findings), "\n"))
	}
}

// setHealthy sets Healthy from the worst health of the objects.
func setHealthy(set func(kind string, status metav1.ConditionStatus, reason, message string), synced bool, st *graphview.Status) {
	status := metav1.ConditionFalse
	var reason, message string
	switch {
	case !synced:
		status, reason, message = metav1.ConditionUnknown, v1alpha1.ReasonSyncing, "Selected resources are being listed."
	case st.Health.Degraded > 0:
		reason, message = v1alpha1.ReasonDegraded, "Objects are degraded; status.health counts them."
	case st.Missing > 0:
		reason, message = v1alpha1.ReasonMissingReferences, "Objects refer to others that they need and that do not exist; status.missing counts the references."
	case st.Health.Progressing > 0:
		reason, message = v1alpha1.ReasonProgressing, "Objects are not yet as their specs want them; status.health counts them."
	case st.Vertices == 0:
		status, reason, message = metav1.ConditionUnknown, v1alpha1.ReasonNothingVisible, "No object is visible; the conditions Effective and Complete say why."
	default:
		status, reason, message = metav1.ConditionTrue, v1alpha1.ReasonOK, "No object is degraded or progressing, and none that is needed is missing."
	}
	set(v1alpha1.ConditionHealthy, status, reason, message)
}

// unreadableResources returns the resources that cannot be read, each with its message.
func unreadableResources(resources []v1alpha1.ResourceStatus) string {
	var b strings.Builder
	for i := range resources {
		r := &resources[i]
		if r.Message == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(r.Resource)
		if r.Group != "" {
			b.WriteString("." + r.Group)
		}
		b.WriteString(": " + r.Message)
	}
	return b.String()
}
