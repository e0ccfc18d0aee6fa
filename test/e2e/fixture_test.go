package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"graphview.dev/test/oracle"
)

// within bounds everything that is waited for. It is no expectation: two cores
// may be shared with other tests, and the operator may be ten times slower for
// the race detector.
const within = 90 * time.Second

// eventually polls until check returns "", and fails with what it last returned.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		why := check()
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, why)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// kubectl runs kubectl as the administrator and fails where it does.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := cluster.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// apply runs kubectl apply on a manifest.
func apply(t *testing.T, manifest string) {
	t.Helper()
	if err := tryApply(t, manifest); err != nil {
		t.Fatal(err)
	}
}

func tryApply(t *testing.T, manifest string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Kubectl(t.Context(), "apply", "-f", file)
	return err
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// newNamespace makes a namespace for a test, which is deleted after it.
func newNamespace(t *testing.T) string {
	t.Helper()
	name := "e2e-" + strings.Trim(notInNames.ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-"), "-")
	name = fmt.Sprintf("%s-%08x", name[:min(len(name), 50)], rand.Uint32())
	kubectl(t, "create", "namespace", name)
	t.Cleanup(func() {
		// The test's own context is over by now.
		if _, err := cluster.Kubectl(context.Background(), "delete", "namespace", name, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	return name
}

// graphView is a manifest; spec is YAML.
func graphView(t *testing.T, namespace, name, spec string) string {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "graphview.dev/v1alpha1", "kind": "GraphView",
		"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": content,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// declare applies a GraphView and waits, as users do, until it is ready.
func declare(t *testing.T, namespace, name, spec string) {
	t.Helper()
	apply(t, graphView(t, namespace, name, spec))
	waitReady(t, namespace, name)
}

func waitReady(t *testing.T, namespace, name string) {
	t.Helper()
	kubectl(t, "wait", "--for=condition=Ready", "-n", namespace, "gv/"+name, "--timeout="+within.String())
}

// expected is what the oracle says a GraphView's graph is.
func expected(t *testing.T, namespace, name, spec string) oracle.Graph {
	t.Helper()
	view, err := oracle.ParseView([]byte(graphView(t, namespace, name, spec)))
	if err != nil {
		t.Fatal(err)
	}
	graph, err := oracle.Build(t.Context(), cluster.Config(), view)
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// status is that of a GraphView, as far as tests look at it.
type status struct {
	Conditions  []condition   `json:"conditions"`
	Resources   []resourceRow `json:"resources"`
	Vertices    int           `json:"vertices"`
	Arcs        int           `json:"arcs"`
	Subscribers int           `json:"subscribers"`
	Warnings    []string      `json:"warnings"`
}

type resourceRow struct {
	Resource string `json:"resource"`
	Objects  int    `json:"objects"`
	Synced   bool   `json:"synced"`
	Message  string `json:"message"`
}

type condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	ObservedGeneration int64  `json:"observedGeneration"`
}

// condition returns that of a kind, empty if there is none.
func (s *status) condition(kind string) condition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return condition{}
}

// statusOf reads a GraphView's status, and tells whether it is about the
// present spec.
func statusOf(t *testing.T, namespace, name string) (s status, current bool) {
	t.Helper()
	var view struct {
		Metadata struct {
			Generation int64 `json:"generation"`
		} `json:"metadata"`
		Status status `json:"status"`
	}
	if err := json.Unmarshal([]byte(kubectl(t, "get", "graphview", "-n", namespace, name, "-o", "json")), &view); err != nil {
		t.Fatal(err)
	}
	current = view.Status.condition("Ready").ObservedGeneration == view.Metadata.Generation
	return view.Status, current
}
