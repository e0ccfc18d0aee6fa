package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
)

func TestSetConditions(t *testing.T) {
	const (
		served    = "The graph is served."
		compiles  = "The spec compiles."
		filling   = "Selected resources are being listed; the graph is served as it fills."
		listed    = "Selected resources are being listed."
		readable  = "Every selected resource can be read."
		unserved  = "Nothing is read while the graph is not served."
		nothing   = "No object is visible; the conditions Effective and Complete say why."
		effective = "Each part of the spec has an effect."
		unknown   = "Nothing is known while the graph is not served."
		seeReason = "The spec is not accepted: spec.queries[0]: 1:3: oops"
	)
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: 3}
	}
	unreadable := []graphview.ResourceStatus{
		{Group: "apps", Resource: "deployments", Synced: true},
		{Resource: "secrets", Message: "forbidden"},
		{Group: "example.com", Resource: "widgets", Message: "conversion webhook: refused"},
	}
	tests := map[string]struct {
		before   []metav1.Condition
		verdict  verdict
		status   graphview.Status
		wasReady bool
		want     []metav1.Condition
	}{
		"syncing": {
			verdict: accepted,
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "Unknown", "Syncing", listed),
				condition("Ready", "False", "Syncing", filling),
				condition("Effective", "Unknown", "Syncing", listed),
				condition("Healthy", "Unknown", "Syncing", listed),
			},
		},
		"ready": {
			verdict: accepted,
			status:  graphview.Status{Synced: true},
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "True", "Complete", readable),
				condition("Ready", "True", "Ready", served),
				condition("Effective", "True", "Effective", effective),
				condition("Healthy", "Unknown", "NothingVisible", nothing),
			},
		},
		"ready, but parts of the spec have no effect": {
			verdict: accepted,
			status: graphview.Status{Synced: true, Advice: []advice.Finding{
				{Reason: advice.QueryShadowed, Path: "spec.queries[1]", Message: "first"}, {Reason: advice.NoRoots, Path: "spec.roots", Message: "second"},
			}},
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "True", "Complete", readable),
				condition("Ready", "True", "Ready", "The graph is served, but parts of the spec have no effect: see Effective."),
				condition("Effective", "False", "QueryShadowed", "spec.queries[1]: first\nspec.roots: second"),
				condition("Healthy", "Unknown", "NothingVisible", nothing),
			},
		},
		"a resource that appears later does not take Ready away": {
			verdict:  accepted,
			wasReady: true,
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "True", "Complete", readable),
				condition("Ready", "True", "Ready", served),
				condition("Effective", "True", "Effective", effective),
				condition("Healthy", "Unknown", "NothingVisible", nothing),
			},
		},
		"ready, but for what cannot be read": {
			verdict: accepted,
			status:  graphview.Status{Synced: true, Resources: unreadable},
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "False", "ResourcesUnreadable", "secrets: forbidden; widgets.example.com: conversion webhook: refused"),
				condition("Ready", "True", "Ready", "The graph is served without resources that cannot be read: see Complete."),
				condition("Effective", "True", "Effective", effective),
				condition("Healthy", "Unknown", "NothingVisible", nothing),
			},
		},
		"syncing, and some cannot be read so far": {
			verdict: accepted,
			status:  graphview.Status{Resources: unreadable},
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "Unknown", "Syncing", listed),
				condition("Ready", "False", "Syncing", filling),
				condition("Effective", "Unknown", "Syncing", listed),
				condition("Healthy", "Unknown", "Syncing", listed),
			},
		},
		"not accepted": {
			verdict: verdict{reason: "InvalidExpression", message: "spec.queries[0]: 1:3: oops"},
			want: []metav1.Condition{
				condition("Accepted", "False", "InvalidExpression", "spec.queries[0]: 1:3: oops"),
				condition("Complete", "Unknown", "NotAccepted", unserved),
				condition("Ready", "False", "NotAccepted", seeReason),
				condition("Effective", "Unknown", "NotAccepted", unknown),
				condition("Healthy", "Unknown", "NotAccepted", unknown),
				condition("Stalled", "True", "NotAccepted", seeReason),
			},
		},
		"limit exceeded": {
			verdict: accepted,
			status:  graphview.Status{LimitExceeded: "more than 10 vertices", Synced: true},
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "Unknown", "LimitExceeded", unserved),
				condition("Ready", "False", "LimitExceeded", "more than 10 vertices"),
				condition("Effective", "Unknown", "LimitExceeded", unknown),
				condition("Healthy", "Unknown", "LimitExceeded", unknown),
				condition("Stalled", "True", "LimitExceeded", "more than 10 vertices"),
			},
		},
		"mended": {
			before:  []metav1.Condition{condition("Stalled", "True", "NotAccepted", seeReason)},
			verdict: accepted,
			status:  graphview.Status{Synced: true},
			want: []metav1.Condition{
				condition("Accepted", "True", "Accepted", compiles),
				condition("Complete", "True", "Complete", readable),
				condition("Ready", "True", "Ready", served),
				condition("Effective", "True", "Effective", effective),
				condition("Healthy", "Unknown", "NothingVisible", nothing),
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.before
			setConditions(&got, 3, tt.verdict, &tt.status, tt.wasReady)
			diff := cmp.Diff(tt.want, got,
				cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime"),
				cmpopts.SortSlices(func(a, b metav1.Condition) bool { return a.Type < b.Type }))
			if diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetConditionsBoundsMessages(t *testing.T) {
	var got []metav1.Condition
	setConditions(&got, 1, verdict{reason: "InvalidExpression", message: strings.Repeat("é", 40000)}, &graphview.Status{}, false)
	message := meta.FindStatusCondition(got, v1alpha1.ConditionAccepted).Message
	if n := len(message); n > v1alpha1.MaxConditionMessage || n < v1alpha1.MaxConditionMessage-1 {
		t.Errorf("message of %d bytes, want %d or one less", n, v1alpha1.MaxConditionMessage)
	}
}

func TestEventType(t *testing.T) {
	tests := map[string]struct {
		condition metav1.Condition
		want      string
		wantNone  bool
	}{
		"accepted":     {condition: metav1.Condition{Type: "Accepted", Status: "True", Reason: "Accepted"}, want: "Normal"},
		"refused":      {condition: metav1.Condition{Type: "Accepted", Status: "False", Reason: "InvalidSelector"}, want: "Warning"},
		"syncing":      {condition: metav1.Condition{Type: "Ready", Status: "False", Reason: "Syncing"}, want: "Normal"},
		"too large":    {condition: metav1.Condition{Type: "Ready", Status: "False", Reason: "LimitExceeded"}, want: "Warning"},
		"not accepted": {condition: metav1.Condition{Type: "Ready", Status: "False", Reason: "NotAccepted"}, wantNone: true},
		"unreadable":   {condition: metav1.Condition{Type: "Complete", Status: "False", Reason: "ResourcesUnreadable"}, want: "Warning"},
		"unknown":      {condition: metav1.Condition{Type: "Complete", Status: "Unknown", Reason: "Syncing"}, wantNone: true},
		"stalled":      {condition: metav1.Condition{Type: "Stalled", Status: "True", Reason: "LimitExceeded"}, wantNone: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := eventType(&tt.condition)
			if got != tt.want || ok == tt.wantNone {
				t.Errorf("got %q, %t, want %q, %t", got, ok, tt.want, !tt.wantNone)
			}
		})
	}
}

func TestSetHealthy(t *testing.T) {
	tests := map[string]struct {
		status     graphview.Status
		want       metav1.ConditionStatus
		wantReason string
	}{
		"syncing":     {graphview.Status{Health: graphview.Health{Degraded: 1}}, "Unknown", "Syncing"},
		"empty":       {graphview.Status{Synced: true}, "Unknown", "NothingVisible"},
		"well":        {graphview.Status{Synced: true, Vertices: 13, Health: graphview.Health{OK: 3, Suspended: 1, Terminating: 1, Unknown: 9}}, "True", "OK"},
		"progressing": {graphview.Status{Synced: true, Health: graphview.Health{OK: 3, Progressing: 1}}, "False", "Progressing"},
		"missing":     {graphview.Status{Synced: true, Missing: 1, Health: graphview.Health{Progressing: 1}}, "False", "MissingReferences"},
		"degraded":    {graphview.Status{Synced: true, Missing: 1, Health: graphview.Health{Progressing: 1, Degraded: 1}}, "False", "Degraded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var conditions []metav1.Condition
			setConditions(&conditions, 1, accepted, &tt.status, false)
			got := meta.FindStatusCondition(conditions, v1alpha1.ConditionHealthy)
			if got == nil || got.Status != tt.want || got.Reason != tt.wantReason {
				t.Errorf("got %v, want %s %s", got, tt.want, tt.wantReason)
			}
		})
	}
}
