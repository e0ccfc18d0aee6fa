package hostile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"graphview.dev/test/operator"
)

// metric is the value of a metric of the operator that has the graphs.
func metric(t *testing.T, name string) float64 {
	t.Helper()
	value, err := holding.Metric(t.Context(), name)
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

// TestKillerViewIsQuarantined: a view during whose expressions the operator is killed,
// as it is when memory runs out, is refused after a few times, with a condition, an
// Event and a metric. Other views are served, and so is this one when it changes.
func TestKillerViewIsQuarantined(t *testing.T) {
	const mostKills = 20
	namespace := newNamespace(t, "killer")
	fill(t, namespace, 250, 100)
	selecting := func(object string) string {
		return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {%s}}}], namespaces: {names: [%s]}}`, object, namespace)
	}
	spent := metric(t, "graphview_expression_cost_total") // by the views of other tests
	apply(t, view(namespace, "bystander", selecting(`labelSelector: "absent!=x"`)))
	apply(t, view(namespace, "killer", selecting(`objectSelectorExpression: "lists.range(10000).all(a, lists.range(10000).all(b, a + b >= 0))"`)))
	defer deleteViews(t, namespace)

	kills := 0
	for quarantined := false; !quarantined; {
		eventually(t, func() string {
			accepted := condition(t, namespace, "killer", "Accepted")
			quarantined = strings.HasPrefix(accepted, "False Quarantined ")
			if cost := metric(t, "graphview_expression_cost_total") - spent; !quarantined && cost < 2_000_000 {
				return fmt.Sprintf("expressions cost %.0f, and Accepted is %s", cost, accepted)
			}
			return ""
		})
		if quarantined {
			break
		}
		if kills++; kills > mostKills {
			t.Fatalf("still not refused after %d kills", mostKills)
		}
		spent = 0
		holding.Kill()
		if err := holding.Restart(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() string {
			if err := served(t.Context(), holding); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	t.Logf("refused after %d kills", kills)
	if got := metric(t, "graphview_quarantined"); got != 1 {
		t.Errorf("%.0f are refused, want the one view:\n%s", got, logged(t, holding, "Refused, because"))
	}
	eventually(t, func() string {
		if got := kubectl(t, "get", "events", "-n", namespace, "--field-selector=reason=Quarantined", "-o", "name"); got == "" {
			return "no Event"
		}
		return ""
	})
	if got := condition(t, namespace, "bystander", "Ready"); !strings.HasPrefix(got, "True ") {
		wantReady(t, namespace, "bystander")
	}
	apply(t, view(namespace, "killer", selecting(`labelSelector: "absent!=x"`)))
	kubectl(t, "wait", "--for=condition=Accepted", "-n", namespace, "gv/killer", "--timeout=1m")
	wantReady(t, namespace, "killer")
}
