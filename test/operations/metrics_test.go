package operations

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"k8s.io/client-go/rest"

	"graphview.dev/test/fixture"
)

// scrape reads the metrics, as text and by series.
func scrape(t *testing.T) (text string, series map[string]float64) {
	t.Helper()
	code, text, err := get(t, manager.Metrics, "/metrics")
	if err != nil || code != http.StatusOK {
		t.Fatalf("metrics: %d %v", code, err)
	}
	series = map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, ok := cutLast(strings.TrimSpace(line))
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		series[name] = n
	}
	return text, series
}

func cutLast(line string) (name, value string, ok bool) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 {
		return "", "", false
	}
	return line[:at], line[at+1:], true
}

var typeLine = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)

// families are the names of all metrics, and of the series of histograms.
func families(text string) (own []string, all map[string]bool) {
	all = map[string]bool{}
	for _, match := range typeLine.FindAllStringSubmatch(text, -1) {
		name := match[1]
		all[name] = true
		if match[2] == "histogram" {
			all[name+"_bucket"], all[name+"_sum"], all[name+"_count"] = true, true, true
		}
		if strings.HasPrefix(name, "graphview_") {
			own = append(own, name)
		}
	}
	return own, all
}

// TestMetrics: they follow Prometheus' conventions, tell what happens, and are
// few, however many views there are.
func TestMetrics(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	follow(t, ctx)
	eventually(t, func() string {
		_, series := scrape(t)
		if series[`graphview_subscribers{transport="lines"}`] != 1 {
			return "there is no subscriber"
		}
		return ""
	})
	// Views of other tests may be on their way out, and their objects with them.
	eventually(t, func() string {
		_, series := scrape(t)
		for name, want := range map[string]float64{
			`graphview_views{state="ready"}`: 4, `graphview_views{state="invalid"}`: 0, `graphview_watches{state="failing"}`: 0,
		} {
			if series[name] != want {
				return fmt.Sprintf("%s is %v, want %v", name, series[name], want)
			}
		}
		return ""
	})
	_, before := scrape(t)
	kubectl(t, "create", "configmap", "-n", "shop", "for-the-metrics")
	fixture.KubectlAfter(t, cluster, "delete", "configmap", "-n", "shop", "for-the-metrics")
	eventually(t, func() string {
		_, after := scrape(t)
		for _, grows := range []string{
			`graphview_events_total{type="set"}`, `graphview_revisions_total`, `graphview_event_to_send_seconds_count`,
			`graphview_messages_sent_total{transport="lines"}`, `graphview_sent_bytes_total{transport="lines"}`,
			`graphview_vertices`,
		} {
			if after[grows] <= before[grows] {
				return grows + " does not grow"
			}
		}
		return ""
	})
	text, series := scrape(t)
	for _, positive := range []string{
		`graphview_arcs`, `graphview_watches{state="synced"}`, `graphview_retained_objects`, `graphview_expression_cost_total`, `graphview_certificate_expiry_timestamp_seconds`,
		`graphview_subject_access_reviews_total{result="allowed"}`,
	} {
		if series[positive] <= 0 {
			t.Errorf("%s is %v", positive, series[positive])
		}
	}
	if !strings.Contains(text, `graphview_build_info{goversion="go`) || !strings.Contains(text, `version="v1.2.3-test"`) {
		t.Error("the version is not told")
	}

	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		if strings.HasPrefix(problem.Metric, "graphview_") {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}

	few := 0
	for name := range series {
		// Limits have a series each; how many there are is in the program. So have views, up to a bound of 100 for
		// each health.
		if strings.HasPrefix(name, "graphview_") && !strings.HasPrefix(name, "graphview_limit_exceeded_total") && !namesView(name) {
			few++
		}
	}
	if few > 140 {
		t.Errorf("%d series", few)
	}
	for _, secret := range []string{"storefront", "shop", "configmaps"} {
		for name := range series {
			if strings.HasPrefix(name, "graphview_") && !namesView(name) && strings.Contains(name, secret) {
				t.Errorf("%s names what is in the cluster", name)
			}
		}
	}
}

// namesView reports whether a series is of one GraphView, whose name it has on purpose.
func namesView(series string) bool {
	return strings.HasPrefix(series, "graphview_held_bytes{") || strings.HasPrefix(series, "graphview_objects{") || strings.HasPrefix(series, "graphview_relation_info{")
}

// follow reads a stream until ctx ends.
func follow(t *testing.T, ctx context.Context) {
	t.Helper()
	client, err := rest.HTTPClientFor(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		cluster.URL()+"/apis/stream.graphview.dev/v1alpha1/watch/namespaces/shop/graphs/everything", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", response, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 64<<10)
		for {
			if _, err := response.Body.Read(buffer); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = response.Body.Close()
		<-done
	})
}

// wanting is a GraphView that misses a ConfigMap, and whose second query has no effect.
const wanting = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: wanting}
spec: {automountServiceAccountToken: false, containers: [{name: main, image: example.com/main, envFrom: [{configMapRef: {name: absent}}, {configMapRef: {name: flags}}]}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: flags, namespace: wanting}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: wanting}
spec:
  serviceAccountName: viewer
  namespaces: {names: [wanting]}
  queries:
  - include: {resourceSelectorExpression: "group == '' && resource in ['pods', 'configmaps']"}
  - include: {resourceSelectorExpression: "resource == 'podz'"}
`

// scrapeWanting reads the metrics while a GraphView has something to complain about:
// the metrics that name GraphViews have no series otherwise.
func scrapeWanting(t *testing.T) (text string) {
	t.Helper()
	namespace := strings.ToLower(t.Name())
	fixture.Apply(t, cluster, viewerIn(namespace)+strings.ReplaceAll(wanting, "wanting", namespace))
	fixture.KubectlAfter(t, cluster, "delete", "namespace", namespace, "--wait=false")
	fixture.KubectlAfter(t, cluster, "delete", "graphview", "view", "-n", namespace)
	eventually(t, func() string {
		text, _ = scrape(t)
		for _, name := range []string{"graphview_missing_references", "graphview_ineffective_parts"} {
			if !strings.Contains(text, fmt.Sprintf("%s{view=%q,view_namespace=%q} 1", name, "view", namespace)) {
				return name + " does not name the GraphView"
			}
		}
		return ""
	})
	return text
}

// TestRelationMetrics: the references of a GraphView that the flag names are metrics, which Prometheus can join.
func TestRelationMetrics(t *testing.T) {
	scrapeWanting(t)
	eventually(t, func() string {
		text, series := scrape(t)
		want := `graphview_relation_info{from_kind="Pod",from_name="web",from_namespace="testrelationmetrics",to_kind="ConfigMap",to_name="flags",to_namespace="testrelationmetrics",type="r"}`
		if series[want] != 1 || series["graphview_relations_left_out"] != 0 || strings.Contains(text, `to_name="absent"`) {
			return "the metrics have no " + want + " alone"
		}
		return ""
	})
}

// TestMetricsAreDocumented: docs/operations.md has a row for each metric and none for another.
func TestMetricsAreDocumented(t *testing.T) {
	own, _ := families(scrapeWanting(t))
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(graphview_[a-z_]+)").FindAllStringSubmatch(read(t, "docs", "operations.md"), -1) {
		documented[match[1]] = true
	}
	slices.Sort(own)
	if diff := cmp.Diff(own, slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("-served +documented:\n%s", diff)
	}
}

// others are metrics that are not the operator's: of kube-state-metrics.
var others = map[string]bool{"kube_pod_container_resource_limits": true}

// TestDashboardAndAlerts: each metric that they name is served.
func TestDashboardAndAlerts(t *testing.T) {
	_, served := families(scrapeWanting(t))
	names := regexp.MustCompile(`\b(?:graphview|controller_runtime|workqueue|rest_client|process|go|kube)_[a-z0-9_]+\b`)
	for _, file := range [][]string{{"docs", "dashboards", "graphview.json"}, {"docs", "alerts", "graphview.yaml"}} {
		found := names.FindAllString(read(t, file...), -1)
		if len(found) < 5 {
			t.Errorf("%s names %d metrics", filepath.Join(file...), len(found))
		}
		for _, name := range found {
			if !served[name] && !others[name] {
				t.Errorf("%s: there is no %s", filepath.Join(file...), name)
			}
		}
	}
}

// TestRunbooks: each alert has a section of docs/alerts/runbooks.md, and no section is
// of no alert.
func TestRunbooks(t *testing.T) {
	alerts := read(t, "docs", "alerts", "graphview.yaml")
	var linked, sections []string
	for _, match := range regexp.MustCompile(`(?m)^\s+- alert: (\w+)$`).FindAllStringSubmatch(alerts, -1) {
		linked = append(linked, match[1])
	}
	for _, match := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(read(t, "docs", "alerts", "runbooks.md"), -1) {
		sections = append(sections, match[1])
	}
	if diff := cmp.Diff(linked, sections); diff != "" || len(linked) == 0 {
		t.Errorf("-alerts +sections:\n%s", diff)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
