package main

import (
	"os"
	"testing"
)

// TestPodName: with hostNetwork the pod's name is known by the variable alone.
func TestPodName(t *testing.T) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ variable, want string }{
		"told":     {"graphview-manager-0", "graphview-manager-0"},
		"not told": {"", hostname},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAME", tt.variable)
			if got, err := podName(); err != nil || got != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
