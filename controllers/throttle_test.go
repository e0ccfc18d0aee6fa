package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

func TestDecide(t *testing.T) {
	const interval = 5 * time.Second
	status := func(change func(*v1alpha1.GraphViewStatus)) *v1alpha1.GraphViewStatus {
		s := &v1alpha1.GraphViewStatus{
			ObservedGeneration: 1,
			Conditions: []metav1.Condition{
				{Type: "Accepted", Status: "True", Reason: "Accepted", ObservedGeneration: 1},
				{Type: "Ready", Status: "True", Reason: "Ready", Message: "served", ObservedGeneration: 1},
			},
			Vertices: 3,
			Warnings: []string{},
		}
		if change != nil {
			change(s)
		}
		return s
	}
	tests := map[string]struct {
		change func(*v1alpha1.GraphViewStatus)
		since  time.Duration
		want   write
	}{
		"same":                       {since: time.Hour},
		"same but for an empty list": {change: func(s *v1alpha1.GraphViewStatus) { s.Warnings = nil }, since: time.Hour},
		"counts, long after":         {change: func(s *v1alpha1.GraphViewStatus) { s.Vertices++ }, since: time.Hour, want: write{now: true}},
		"counts, just after":         {change: func(s *v1alpha1.GraphViewStatus) { s.Vertices++ }, since: time.Second, want: write{hold: 4 * time.Second}},
		"counts, as soon as allowed": {change: func(s *v1alpha1.GraphViewStatus) { s.Vertices++ }, since: interval, want: write{now: true}},
		"a message, just after":      {change: func(s *v1alpha1.GraphViewStatus) { s.Conditions[1].Message = "x" }, since: time.Second, want: write{hold: 4 * time.Second}},
		"a condition's status":       {change: func(s *v1alpha1.GraphViewStatus) { s.Conditions[1].Status = "False" }, want: write{now: true}},
		"a condition's reason":       {change: func(s *v1alpha1.GraphViewStatus) { s.Conditions[1].Reason = "x" }, want: write{now: true}},
		"a condition more": {change: func(s *v1alpha1.GraphViewStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: "Stalled"})
		}, want: write{now: true}},
		"a condition less":  {change: func(s *v1alpha1.GraphViewStatus) { s.Conditions = s.Conditions[:1] }, want: write{now: true}},
		"another condition": {change: func(s *v1alpha1.GraphViewStatus) { s.Conditions[1].Type = "Stalled" }, want: write{now: true}},
		"the generation":    {change: func(s *v1alpha1.GraphViewStatus) { s.ObservedGeneration = 2 }, want: write{now: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decide(status(nil), status(tt.change), tt.since, interval); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
