package controllers

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// TestEffectiveStays: while it is not known what the cluster serves, as after a start, what
// was found out of the same spec is still said.
func TestEffectiveStays(t *testing.T) {
	condition := func(status metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionEffective, Status: status, ObservedGeneration: 2, Reason: reason}}
	}
	for name, tt := range map[string]struct {
		before     []metav1.Condition
		generation int64
		want       string
	}{
		"nothing was known":    {generation: 2, want: v1alpha1.ReasonSyncing},
		"it was effective":     {before: condition(metav1.ConditionTrue, v1alpha1.ReasonEffective), generation: 2, want: v1alpha1.ReasonEffective},
		"something is missing": {before: condition(metav1.ConditionFalse, "Unserved"), generation: 2, want: "Unserved"},
		"of another spec":      {before: condition(metav1.ConditionTrue, v1alpha1.ReasonEffective), generation: 3, want: v1alpha1.ReasonSyncing},
		"it was not accepted":  {before: condition(metav1.ConditionUnknown, v1alpha1.ReasonNotAccepted), generation: 2, want: v1alpha1.ReasonSyncing},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := tt.before
			setRuleConditions(&conditions, tt.generation, verdict{reason: v1alpha1.ReasonAccepted}, graphview.RuleEffect{})
			if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionEffective); c == nil || c.Reason != tt.want || c.ObservedGeneration != tt.generation {
				t.Errorf("%+v, want %s of generation %d", c, tt.want, tt.generation)
			}
		})
	}
}

// unreadRules is an engine that cannot read a schema.
type unreadRules struct {
	RuleEngine

	effect graphview.RuleEffect
}

func (u *unreadRules) RuleEffect(context.Context, string) graphview.RuleEffect { return u.effect }

// TestUnreadSchemaIsRetried: a schema that could not be read is looked for again.
func TestUnreadSchemaIsRetried(t *testing.T) {
	for name, tt := range map[string]struct {
		unread error
		want   bool
	}{"read": {}, "not read": {errors.New("the API server is busy"), true}} {
		t.Run(name, func(t *testing.T) {
			effect := graphview.RuleEffect{Known: true, Unread: tt.unread}
			rule := &v1alpha1.ReferenceRule{}
			v := verdict{reason: v1alpha1.ReasonAccepted}
			setRuleConditions(&rule.Status.Conditions, 0, v, effect) // so that there is nothing to write
			r := NewReferenceRuleReconciler(&unreadRules{effect: effect}, Options{})
			result, err := r.writeStatus(t.Context(), rule, v)
			if err != nil || result.RequeueAfter > 0 != tt.want {
				t.Errorf("%v, %v; again: want %t", result, err, tt.want)
			}
		})
	}
}
