package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	c := &clock{laps: []lap{{"`git clone`", 1200 * time.Millisecond}, {"a | b", 12 * time.Second}}}
	const want = "| from here to there | after |\n|---|---|\n| `git clone` | 1.2 s |\n| a \\| b | 12.0 s |\n"
	if diff := cmp.Diff(want, c.table("from here to there")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What hack/run prints has to be found, and what the environment of a stranger does not
// have has to be gone.
func TestStranger(t *testing.T) {
	for line, want := range map[string]string{
		"  http://127.0.0.1:40123/open/ABC2": "http://127.0.0.1:40123/open/ABC2",
		"  export KUBECONFIG=/tmp/x":         "",
	} {
		if got := address.FindString(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	got := strangers([]string{"PATH=/bin", "MAKEFLAGS=s", "GRAPHVIEW_CONTROL_PLANE=/x", "HOME=/root"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/root"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
