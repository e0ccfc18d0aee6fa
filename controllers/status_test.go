package controllers

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview"
)

func TestSetCounts(t *testing.T) {
	status := v1alpha1.GraphViewStatus{
		ObservedGeneration: 7,
		Resources:          []v1alpha1.ResourceStatus{{Resource: "gone"}},
		Warnings:           []string{"gone"},
	}
	setCounts(&status, &graphview.Status{
		Resources: []graphview.ResourceStatus{
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
	resources := make([]graphview.ResourceStatus, 3000)
	resources[0].Message = strings.Repeat("é", 300)
	var status v1alpha1.GraphViewStatus
	setCounts(&status, &graphview.Status{Resources: resources})
	if status.ResourceCount != 3000 || len(status.Resources) != 2048 {
		t.Errorf("%d resources and %d rows, want 3000 and 2048", status.ResourceCount, len(status.Resources))
	}
	if n := utf8.RuneCountInString(status.Resources[0].Message); n != 256 {
		t.Errorf("message of %d characters, want 256", n)
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
		"too long": {warnings: []string{strings.Repeat("w", 1025)}, want: []string{strings.Repeat("w", 1023) + "…"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, boundWarnings(tt.warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	tests := map[string]struct {
		text      string
		limit     int
		wantRunes string
		wantBytes string
	}{
		"short":     {text: "abc", limit: 3, wantRunes: "abc", wantBytes: "abc"},
		"long":      {text: "abcdef", limit: 5, wantRunes: "abcd…", wantBytes: "ab…"},
		"wide":      {text: "éééé", limit: 4, wantRunes: "éééé", wantBytes: "…"},
		"wider":     {text: "ééééé", limit: 6, wantRunes: "ééééé", wantBytes: "é…"},
		"malformed": {text: "a\xffb", limit: 5, wantRunes: "a\uFFFDb", wantBytes: "a\uFFFDb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := validation.Cut(tt.text, tt.limit); got != tt.wantRunes {
				t.Errorf("Cut: %q, want %q", got, tt.wantRunes)
			}
			if got := cutBytes(tt.text, tt.limit); got != tt.wantBytes {
				t.Errorf("cutBytes: %q, want %q", got, tt.wantBytes)
			}
		})
	}
}

// FuzzCut: compilers and API servers may say anything, and the API server
// refuses a whole status for one byte too many.
func FuzzCut(f *testing.F) {
	f.Add("abc", 4)
	f.Add("é…\xff\xc3", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, len(ellipsis)), 4096)
		runes, bytes := validation.Cut(text, limit), cutBytes(text, limit)
		if !utf8.ValidString(runes) || !utf8.ValidString(bytes) {
			t.Errorf("not UTF-8: %q, %q", runes, bytes)
		}
		if utf8.RuneCountInString(runes) > limit || len(bytes) > limit {
			t.Errorf("longer than %d: %q, %q", limit, runes, bytes)
		}
	})
}
