package controllers

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
)

// setRuleConditions makes conditions say what the verdict means for the spec of
// that generation.
func setRuleConditions(conditions *[]metav1.Condition, generation int64, v verdict) {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, ObservedGeneration: generation, Reason: reason,
			Message: validation.Cut(message, v1alpha1.MaxConditionMessage),
		})
	}
	if v.accepted() {
		set(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v.reason, "The rule is in force.")
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
		return
	}
	set(v1alpha1.ConditionAccepted, metav1.ConditionFalse, v.reason, v.message)
	set(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNotAccepted, "The rule is not accepted: see the condition Accepted.")
}

func sameConditions(a, b []metav1.Condition) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.Condition) bool { return a == b })
}
