package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// epoch is the start of the clocks in these tests.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestGrace(t *testing.T) {
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 3}
	syncing, old := ready, ready
	syncing.Status, old.ObservedGeneration = metav1.ConditionFalse, 2
	tests := map[string]struct {
		conditions []metav1.Condition
		record     record
		held       graphview.Status
		after      time.Duration
		want       time.Duration
	}{
		"just restarted":       {conditions: []metav1.Condition{ready}, want: restartGrace},
		"for some time":        {conditions: []metav1.Condition{ready}, after: 10 * time.Second, want: restartGrace - 10*time.Second},
		"for too long":         {conditions: []metav1.Condition{ready}, after: restartGrace},
		"new":                  {},
		"was not ready":        {conditions: []metav1.Condition{syncing}},
		"ready by another one": {conditions: []metav1.Condition{old}},
		"synced":               {conditions: []metav1.Condition{ready}, record: record{ready: 3}},
		"written before":       {conditions: []metav1.Condition{ready}, record: record{written: &v1alpha1.GraphView{}}},
		"refused":              {conditions: []metav1.Condition{ready}, record: record{verdict: verdict{reason: "InvalidExpression"}}},
		"too large":            {conditions: []metav1.Condition{ready}, held: graphview.Status{LimitExceeded: "more than 5 vertices"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Generation: 3}, Status: v1alpha1.GraphViewStatus{Conditions: tt.conditions}}
			r := tt.record
			r.met = epoch
			if r.verdict.reason == "" {
				r.verdict = accepted
			}
			if got := r.grace(view, &tt.held, epoch.Add(tt.after)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
