package main

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
)

// TestPodName: a replica is named after its pod, which outlives the container. Processes
// that have only the host in common have different names.
func TestPodName(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := graphview.NewEngine(graphview.Options{Config: &rest.Config{Host: "https://localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ variable, want string }{
		"in a pod":     {"graphview-manager-0", "graphview-manager-0"},
		"out of a pod": {"", host + "." + engine.RunID()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAME", tt.variable)
			if name, err := podName(engine.RunID()); err != nil || name != tt.want {
				t.Errorf("%q, %v; want %q", name, err, tt.want)
			}
		})
	}
}
