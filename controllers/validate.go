package controllers

import (
	"context"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/advice"
)

// Validate says what the webhook of an operator with these options would say of
// a GraphView that somebody applies: nil, or a Status with a cause for each
// field. Where the options know what the cluster serves, it finds what has no effect
// in one that is valid.
func Validate(ctx context.Context, view *v1alpha1.GraphView, o Options) ([]advice.Finding, error) {
	return (&validator{o}).validate(ctx, view)
}

// ValidateRule is Validate for a ReferenceRule.
func ValidateRule(ctx context.Context, rule *v1alpha1.ReferenceRule) error {
	return ruleValidator{}.validate(ctx, rule)
}
