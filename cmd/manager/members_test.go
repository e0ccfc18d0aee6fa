package main

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
)

// TestSelf: a replica is named after its pod, which outlives the container. Processes
// that have only the host in common have different names.
func TestSelf(t *testing.T) {
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
			m, err := newSelf(engine, "", noRelay)
			if err != nil || m.Name != tt.want || m.Run != engine.RunID() {
				t.Errorf("%+v, %v; want the name %q", m, err, tt.want)
			}
		})
	}
}
