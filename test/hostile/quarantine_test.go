package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

// metric is the value of a metric of the operator that has the graphs.
func metric(t *testing.T, name string) float64 {
	t.Helper()
	value, err := manager.Metric(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// logged returns the lines of an operator's log that contain a text.
func logged(t *testing.T, o *operator.Operator, part string) (lines string) {
	t.Helper()
	text, err := os.ReadFile(o.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, part) {
			lines += line
		}
	}
	return lines
}

// TestCrashesRefuseExpressions kills the operator twice. It then refuses the view with an expression, with
// a condition, an Event and a metric, and serves the others. Once the time is over it serves all.
func TestCrashesRefuseExpressions(t *testing.T) {
	namespace := newNamespace(t, "killer")
	fill(t, namespace, 3, 100)
	selecting := func(object string) string {
		return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {%s}}}], namespaces: {names: [%s]}}`, object, namespace)
	}
	apply(t, view(namespace, "bystander", selecting(`labelSelector: "absent!=x"`)))
	apply(t, view(namespace, "killer", selecting(`objectSelectorExpression: "name != 'x'"`)))
	defer deleteViews(t, namespace)
	wantReady(t, namespace, "bystander")
	wantReady(t, namespace, "killer")

	restart := func() {
		manager.Kill()
		if err := manager.Restart(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() string {
			if err := served(t.Context(), manager); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	restart()
	if got := metric(t, "graphview_quarantined"); got != 0 {
		t.Errorf("expressions are refused after one crash")
	}
	restart()
	if got := metric(t, "graphview_quarantined"); got != 1 || logged(t, manager, "Refusing expressions") == "" {
		t.Errorf("after two crashes the metric is %.0f, and the log has %q", got, logged(t, manager, "Refusing expressions"))
	}
	eventually(t, func() string {
		if accepted := condition(t, namespace, "killer", "Accepted"); !strings.HasPrefix(accepted, "False Quarantined ") {
			return "Accepted is " + accepted
		}
		if kubectl(t, "get", "events", "-n", namespace, "--field-selector=reason=Quarantined", "-o", "name") == "" {
			return "no Event"
		}
		return ""
	})
	wantReady(t, namespace, "bystander")

	// The next process finds crashes that were some minutes ago.
	manager.Kill()
	soon := 8 * time.Second
	last := time.Now().Add(soon - 10*time.Minute)
	record, err := json.Marshal(map[string]any{"running": false, "ends": []time.Time{last.Add(-time.Minute), last}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cluster.Dir(), "state", "crashes.json"), record, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := manager.Restart(); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "wait", "--for=condition=Accepted", "-n", namespace, "gv/killer", fixture.Timeout())
	wantReady(t, namespace, "killer")
	if got := metric(t, "graphview_quarantined"); got != 0 {
		t.Errorf("expressions are refused after the time is over")
	}
}
