package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// in replaces the namespace in a manifest or spec.
func in(namespace, text string) string { return strings.ReplaceAll(text, "NAMESPACE", namespace) }

// deploy applies the application and waits for its pods, until its Deployment's status has both.
func deploy(t *testing.T, namespace string) {
	t.Helper()
	documents := strings.Split(application, "---\n")
	for i, document := range documents {
		documents[i] = strings.Replace(document, "metadata: {", "metadata: {namespace: "+namespace+", ", 1)
	}
	apply(t, strings.Join(documents, "---\n"))
	c, web := fixture.Client(t, cluster.Config()), &appsv1.Deployment{}
	eventually(t, func() string {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, web); err != nil {
			t.Fatal(err)
		}
		if web.Status.Replicas != 2 || web.Status.UnavailableReplicas != 2 {
			return fmt.Sprintf("%d pods, %d of them unavailable, want 2", web.Status.Replicas, web.Status.UnavailableReplicas)
		}
		return ""
	})
}

// TestReadyWithKubectl applies a GraphView and reads its status with kubectl.
func TestReadyWithKubectl(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	for name, spec := range map[string]string{"whole": wholeView, "rooted": rootedView} {
		t.Run(name, func(t *testing.T) {
			spec := in(namespace, spec)
			declare(t, namespace, name, spec)

			eventually(t, func() string {
				want := expected(t, namespace, name, spec)
				if len(want.Vertices) < 6 || len(want.Arcs) < 6 {
					return fmt.Sprintf("the oracle has only %d vertices and %d arcs", len(want.Vertices), len(want.Arcs))
				}
				row := columns(t, kubectl(t, "get", "graphviews", "-n", namespace, name, "-o", "wide"))
				for _, varies := range []string{"AGE", "HEALTH", "MISSING", "MEMORY"} {
					delete(row, varies)
				}
				return cmp.Diff(map[string]string{
					"NAME": name, "READY": "True", "REASON": "Ready", "EFFECTIVE": "True", "SUBSCRIBERS": "0",
					"RESOURCES": strconv.Itoa(wholeViewResources),
					"OBJECTS":   strconv.Itoa(len(want.Vertices)), "REFERENCES": strconv.Itoa(len(want.Arcs)),
					"MESSAGE": "The graph is served.",
				}, row)
			})
			got, current := statusOf(t, namespace, name)
			if !current {
				t.Error("the status is of another generation")
			}
			for kind, want := range map[string]string{"Accepted": "True", "Ready": "True", "Complete": "True", "Stalled": ""} {
				if c := got.condition(kind); c.Status != want {
					t.Errorf("condition %s is %+v, want status %q", kind, c, want)
				}
			}
			if len(got.Warnings) > 0 {
				t.Errorf("warnings %q, want none", got.Warnings)
			}

			t.Run("graph", func(t *testing.T) {
				for command, args := range map[string][]string{
					"object": {"get", "graphs", "-n", namespace, name, "-o", "json"},
					"raw":    {"get", "--raw", graphPath(namespace, name)},
				} {
					var text []byte
					eventually(t, func() string { // the controllers may still write statuses
						want := expected(t, namespace, name, spec)
						text = []byte(kubectl(t, args...))
						reader := oracle.Client{Strict: command == "raw"} // kubectl may add members of its own
						if err := reader.Apply(text); err != nil {
							t.Fatalf("%s: %v", command, err)
						}
						if diff := oracle.Compare(want, reader.Graph()); diff != "" {
							return fmt.Sprintf("%s (-oracle +kubectl):\n%s", command, diff)
						}
						return ""
					})
					var object struct {
						Kind     string `json:"kind"`
						Metadata struct {
							Name      string `json:"name"`
							Namespace string `json:"namespace"`
						} `json:"metadata"`
					}
					if err := json.Unmarshal(text, &object); err != nil {
						t.Fatal(err)
					}
					if object.Kind != "Graph" || object.Metadata.Name != name || object.Metadata.Namespace != namespace {
						t.Errorf("%s is %+v", command, object)
					}
				}
			})
		})
	}
	t.Run("list", func(t *testing.T) {
		got := strings.Fields(kubectl(t, "get", "graphs", "-n", namespace, "-o", "name"))
		if diff := cmp.Diff([]string{"graph.stream.graphview.dev/rooted", "graph.stream.graphview.dev/whole"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// columns reads kubectl's table of one row.
func columns(t *testing.T, table string) map[string]string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 2 {
		t.Fatalf("table of %d lines:\n%s", len(lines), table)
	}
	header := strings.Fields(lines[0])
	if diff := cmp.Diff([]string{"NAME", "READY", "REASON", "EFFECTIVE", "HEALTH", "MISSING", "RESOURCES", "OBJECTS", "REFERENCES", "SUBSCRIBERS", "MEMORY", "AGE", "MESSAGE"}, header); diff != "" {
		t.Fatalf("table:\n%s", table)
	}
	// A cell may be empty: it ends where the next column begins.
	row := map[string]string{}
	for i, name := range header {
		from, to := strings.Index(lines[0], name), len(lines[1])
		if i+1 < len(header) {
			to = strings.Index(lines[0], header[i+1])
		}
		row[name] = strings.TrimSpace(lines[1][from:to])
	}
	return row
}
