package controllers

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	ready := map[string]string{
		"Accepted": "True Accepted: " + compiles, "Complete": "True Complete: " + readable, "Ready": "True Ready: " + served,
		"Effective": "True Effective: " + effective, "Healthy": "Unknown NothingVisible: " + nothing,
	}
	// with returns conditions with others in place of some.
	with := func(of, others map[string]string) map[string]string {
		of = maps.Clone(of)
		maps.Copy(of, others)
		return of
	}
	syncing := with(ready, map[string]string{
		"Complete": "Unknown Syncing: " + listed, "Ready": "False Syncing: " + filling, "Effective": "Unknown Syncing: " + listed, "Healthy": "Unknown Syncing: " + listed,
	})
	// stalled are the conditions of a view that is not served.
	stalled := func(reason, message string) map[string]string {
		return with(ready, map[string]string{
			"Complete": "Unknown " + reason + ": " + unserved, "Ready": "False " + reason + ": " + message, "Effective": "Unknown " + reason + ": " + unknown,
			"Healthy": "Unknown " + reason + ": " + unknown, "Stalled": "True " + reason + ": " + message,
		})
	}
	unreadable := []v1alpha1.ResourceStatus{
		{Group: "apps", Resource: "deployments", Synced: true},
		{Resource: "secrets", Message: "forbidden"},
		{Group: "example.com", Resource: "widgets", Message: "conversion webhook: refused"},
	}
	tests := map[string]struct {
		verdict  verdict // zero: accepted
		status   graphview.Status
		wasReady bool
		want     map[string]string
	}{
		"syncing": {want: syncing},
		"ready":   {status: graphview.Status{Synced: true}, want: ready},
		"ready, but parts of the spec have no effect": {
			status: graphview.Status{Synced: true, Advice: []advice.Finding{
				{Reason: advice.QueryShadowed, Path: "spec.queries[1]", Message: "first"}, {Reason: advice.NoRoots, Path: "spec.roots", Message: "second"},
			}},
			want: with(ready, map[string]string{
				"Ready":     "True Ready: The graph is served, but parts of the spec have no effect: see Effective.",
				"Effective": "False QueryShadowed: spec.queries[1]: first\nspec.roots: second",
			}),
		},
		"a resource that appears later does not take Ready away": {wasReady: true, want: ready},
		"ready, but for what cannot be read": {
			status: graphview.Status{Synced: true, Resources: unreadable},
			want: with(ready, map[string]string{
				"Complete": "False ResourcesUnreadable: secrets: forbidden; widgets.example.com: conversion webhook: refused",
				"Ready":    "True Ready: The graph is served without resources that cannot be read: see Complete.",
			}),
		},
		"syncing, and some cannot be read so far": {status: graphview.Status{Resources: unreadable}, want: syncing},
		"not accepted": {
			verdict: verdict{reason: "InvalidExpression", message: "spec.queries[0]: 1:3: oops"},
			want:    with(stalled("NotAccepted", seeReason), map[string]string{"Accepted": "False InvalidExpression: spec.queries[0]: 1:3: oops"}),
		},
		"limit exceeded": {status: graphview.Status{LimitExceeded: "more than 10 vertices", Synced: true}, want: stalled("LimitExceeded", "more than 10 vertices")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.verdict.reason == "" {
				tt.verdict = accepted
			}
			// The same view was refused before, or was not.
			for _, conditions := range [][]metav1.Condition{nil, {{Type: "Stalled", Status: "True", Reason: "NotAccepted", Message: seeReason, ObservedGeneration: 2}}} {
				setConditions(&conditions, 3, tt.verdict, &tt.status, tt.wasReady)
				if diff := cmp.Diff(tt.want, textsOf(t, conditions, 3)); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// textsOf returns the texts of conditions of a generation, by type.
func textsOf(t *testing.T, conditions []metav1.Condition, generation int64) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, c := range conditions {
		texts[c.Type] = string(c.Status) + " " + c.Reason + ": " + c.Message
		if c.ObservedGeneration != generation {
			t.Errorf("%s is of generation %d, want %d", c.Type, c.ObservedGeneration, generation)
		}
	}
	return texts
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
		"syncing":     {graphview.Status{Health: v1alpha1.HealthCounts{Degraded: 1}}, "Unknown", "Syncing"},
		"empty":       {graphview.Status{Synced: true}, "Unknown", "NothingVisible"},
		"well":        {graphview.Status{Synced: true, Vertices: 13, Health: v1alpha1.HealthCounts{OK: 3, Suspended: 1, Terminating: 1, Unknown: 9}}, "True", "OK"},
		"progressing": {graphview.Status{Synced: true, Health: v1alpha1.HealthCounts{OK: 3, Progressing: 1}}, "False", "Progressing"},
		"missing":     {graphview.Status{Synced: true, Missing: 1, Health: v1alpha1.HealthCounts{Progressing: 1}}, "False", "MissingReferences"},
		"degraded":    {graphview.Status{Synced: true, Missing: 1, Health: v1alpha1.HealthCounts{Progressing: 1, Degraded: 1}}, "False", "Degraded"},
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
