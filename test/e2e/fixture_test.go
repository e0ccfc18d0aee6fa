package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// within bounds everything that is waited for. It is no expectation: two cores
// may be shared with other tests, and the operator may be ten times slower for
// the race detector.
const within = 90 * time.Second

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, within, 100*time.Millisecond, check)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, cluster, args...)
}

func apply(t *testing.T, manifest string) {
	t.Helper()
	fixture.Apply(t, cluster, manifest)
}

func newNamespace(t *testing.T) string {
	t.Helper()
	return fixture.Namespace(t, cluster, fixture.Client(t, cluster.Config()), "e2e-"+fixture.Prefix(t))
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
	eventually(t, func() string {
		s, current := statusOf(t, namespace, name)
		if ready := s.condition("Ready"); !current || ready.Status != "True" {
			return fmt.Sprintf("%s/%s: the condition is %+v, of the current spec: %t", namespace, name, ready, current)
		}
		return ""
	})
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

// statusOf reads a GraphView's status, and reports whether it is about the current spec.
func statusOf(t *testing.T, namespace, name string) (s status, current bool) {
	t.Helper()
	connections, err := rest.HTTPClientFor(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer connections.CloseIdleConnections()
	c, err := dynamic.NewForConfigAndClient(cluster.Config(), connections)
	if err != nil {
		t.Fatal(err)
	}
	object, err := c.Resource(v1alpha1.GroupVersion.WithResource("graphviews")).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var view struct {
		Metadata struct {
			Generation int64 `json:"generation"`
		} `json:"metadata"`
		Status status `json:"status"`
	}
	if err := json.Unmarshal(text, &view); err != nil {
		t.Fatal(err)
	}
	current = view.Status.condition("Ready").ObservedGeneration == view.Metadata.Generation
	return view.Status, current
}
