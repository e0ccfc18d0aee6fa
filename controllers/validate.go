package controllers

import (
	"context"

	"graphview.dev/api/v1alpha1"
)

// Validate says what the webhook of an operator with these options would say of
// a GraphView that somebody applies: nil, or a Status with a cause for each
// field. It asks no server.
func Validate(ctx context.Context, view *v1alpha1.GraphView, o Options) error {
	return (&validator{o}).validate(ctx, view)
}

// ValidateRule is Validate for a ReferenceRule.
func ValidateRule(ctx context.Context, rule *v1alpha1.ReferenceRule) error {
	return ruleValidator{}.validate(ctx, rule)
}
