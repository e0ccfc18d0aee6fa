package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

func TestSetCounts(t *testing.T) {
	status := v1alpha1.GraphViewStatus{
		ObservedGeneration: 7,
		Resources:          []v1alpha1.ResourceStatus{{Resource: "gone"}},
		Warnings:           []string{"gone"},
	}
	setCounts(&status, &graphview.Status{
		Resources: []v1alpha1.ResourceStatus{
			{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true, Objects: 12, Synced: true},
			{Version: "v1", Resource: "nodes", Message: "forbidden"},
		},
		Vertices: 240, Arcs: 611, Roots: 1, Subscribers: 2,
		Warnings: []string{"w"},
	})
	want := v1alpha1.GraphViewStatus{
		ObservedGeneration: 7,
		Resources: []v1alpha1.ResourceStatus{
			{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true, Objects: 12, Synced: true},
			{Version: "v1", Resource: "nodes", Message: "forbidden"},
		},
		ResourceCount: 2, Vertices: 240, Arcs: 611, Roots: 1, Subscribers: 2,
		Warnings: []string{"w"},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestSetCountsBounds(t *testing.T) {
	resources := make([]v1alpha1.ResourceStatus, 3000)
	resources[0].Message = strings.Repeat("é", 300)
	var status v1alpha1.GraphViewStatus
	setCounts(&status, &graphview.Status{Resources: resources})
	if status.ResourceCount != 3000 || len(status.Resources) != 2048 {
		t.Errorf("%d resources and %d rows, want 3000 and 2048", status.ResourceCount, len(status.Resources))
	}
	if n := len(status.Resources[0].Message); n > v1alpha1.MaxResourceMessage || n < v1alpha1.MaxResourceMessage-1 {
		t.Errorf("message of %d bytes, want %d or one less", n, v1alpha1.MaxResourceMessage)
	}
}

func TestBoundWarnings(t *testing.T) {
	numbered := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint("warning ", i))
		}
		return out
	}
	tests := map[string]struct {
		warnings, want []string
	}{
		"none":     {},
		"ten":      {warnings: numbered(10), want: numbered(10)},
		"eleven":   {warnings: numbered(11), want: append(numbered(9), "and 2 more warnings")},
		"too long": {warnings: []string{strings.Repeat("w", 1025)}, want: []string{strings.Repeat("w", 1021) + "…"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, boundWarnings(tt.warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
