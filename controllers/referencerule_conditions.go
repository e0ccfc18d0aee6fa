package controllers

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
)

// setRuleConditions sets the conditions from the verdict about the spec of
// that generation, and from the effect of the rule.
func setRuleConditions(conditions *[]metav1.Condition, generation int64, v verdict, effect graphview.RuleEffect) {
	set := conditionSetter(conditions, generation)
	if v.accepted() {
		set(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v.reason, "The rule is in force.")
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
		switch {
		case !effect.Known:
			// The findings for this spec stay until new ones are known.
			if c := meta.FindStatusCondition(*conditions, v1alpha1.ConditionEffective); c != nil && c.ObservedGeneration == generation && c.Reason != v1alpha1.ReasonNotAccepted {
				break
			}
			set(v1alpha1.ConditionEffective, metav1.ConditionUnknown, v1alpha1.ReasonSyncing, "What the cluster serves is not known yet.")
		case len(effect.Unserved) > 0:
			set(v1alpha1.ConditionEffective, metav1.ConditionFalse, string(effect.Unserved[0].Reason), strings.Join(advice.Texts(effect.Unserved), "\n"))
		default:
			set(v1alpha1.ConditionEffective, metav1.ConditionTrue, v1alpha1.ReasonEffective, effectText(effect))
		}
		return
	}
	set(v1alpha1.ConditionEffective, metav1.ConditionUnknown, v1alpha1.ReasonNotAccepted, "Nothing is known while the rule is not accepted.")
	set(v1alpha1.ConditionAccepted, metav1.ConditionFalse, v.reason, v.message)
	set(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNotAccepted, "The rule is not accepted: see the condition Accepted.")
}

// maxReplaced is the number of fields that a message names one by one.
const maxReplaced = 20

// effectText returns the message about the fields that are not read by convention any more, because the rule
// replaces them.
func effectText(effect graphview.RuleEffect) string {
	text := "Each kind that the rule names is served."
	switch n := len(effect.Replaced); {
	case effect.Unread != nil:
		text += " It replaces conventions; of which fields is not known, since the schema of the kind cannot be read."
	case n == 1:
		text += " By convention, this field is not read any more: " + effect.Replaced[0] + "."
	case n > 1:
		text += fmt.Sprintf(" By convention, these %d fields are not read any more: %s", n, strings.Join(effect.Replaced[:min(n, maxReplaced)], ", "))
		if n > maxReplaced {
			text += fmt.Sprintf(" and %d more", n-maxReplaced)
		}
		text += "."
	}
	return text
}
