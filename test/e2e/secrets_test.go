package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// canaries are values that must occur only in answers of the API server.
type canaries map[string]string

// find says where in a text a canary is, in one of the forms that it may take.
func (c canaries) find(text string) string {
	for name, value := range c {
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value))} {
			if at := strings.Index(text, form); at >= 0 {
				return fmt.Sprintf("canary %s at %d of %d bytes: …%.300s", name, at, len(text), text[max(0, at-150):])
			}
		}
	}
	return ""
}

const secretsManifest = `
apiVersion: v1
kind: Secret
metadata: {name: hidden, namespace: NAMESPACE, labels: {tier: back}}
data: {token: DATA}
stringData: {password: STRING}
---
apiVersion: v1
kind: Pod
metadata: {name: user, namespace: NAMESPACE}
spec:
  containers: [{name: main, image: example.com/main, envFrom: [{secretRef: {name: hidden}}]}]
`

// Views that try hard to see into Secrets.
var curiousViews = map[string]string{
	"whole": wholeView,
	"parts": `
queries: [{include: {resourceSelectorExpression: "resource in ['secrets', 'pods'] && group == ''", object: {jsonPath: "{.data}{.stringData}{.metadata.annotations}{.metadata.managedFields}"}}}]
namespaces: {names: [NAMESPACE]}`,
	"chosen": `
queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {objectSelectorExpression: "obj.data.token != '' || string(obj) != ''"}}}]
namespaces: {names: [NAMESPACE]}`,
	"annotated": `
queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {objectSelectorExpression: "duration(annotations['kubectl.kubernetes.io/last-applied-configuration']) > duration('1s')"}}}]
namespaces: {names: [NAMESPACE]}`,
	"rooted": wholeView + `
roots: {objectSelectorExpressions: ["has(obj.data) && timestamp(obj.data.token) > timestamp('2026-01-01T00:00:00Z')", "resource == 'pods'"]}`,
}

// No value of a Secret, however it was applied, is in any message, status,
// Event, metric or line of the operator's log.
func TestSecretsStaySecret(t *testing.T) {
	namespace := newNamespace(t)
	hidden := canaries{
		"data": "canary-data-7f3a9c1e", "stringData": "canary-string-7f3a9c1e", "patched": "canary-patched-7f3a9c1e",
	}
	streams := subscribeAll(t, namespace, curiousViews)
	fixture.KubectlApply(t, cluster, strings.NewReplacer(
		"NAMESPACE", namespace, "DATA", base64.StdEncoding.EncodeToString([]byte(hidden["data"])), "STRING", hidden["stringData"],
	).Replace(secretsManifest))
	if stored := kubectl(t, "get", "secret", "-n", namespace, "hidden", "-o", "yaml"); !strings.Contains(stored, hidden["stringData"]) {
		t.Fatalf("kubectl apply left no last-applied annotation:\n%s", stored)
	}
	kubectl(t, "patch", "secret", "-n", namespace, "hidden", "--type=merge", "-p",
		fmt.Sprintf(`{"stringData":{"token":%q},"metadata":{"labels":{"tier":"front"}}}`, hidden["patched"]))
	kubectl(t, "create", "configmap", "-n", namespace, "last")

	for _, name := range []string{"whole", "rooted", "parts"} {
		wantSeen(t, namespace, name, curiousViews, streams)
	}
	for _, name := range []string{"chosen", "annotated"} {
		wantWarned(t, namespace, name, streams)
	}
	hidden.wantUnsaid(t, everythingSaid(t, namespace, curiousViews, streams))
}

// Messages about a failed expression do not contain the value that it failed on.
func TestExpressionsDoNotEcho(t *testing.T) {
	namespace := newNamespace(t)
	hidden := canaries{"value": "canary-value-7f3a9c1e"}
	views := map[string]string{}
	for name, expression := range map[string]string{
		"timestamp": "timestamp(obj.data.value) > timestamp('2026-01-01T00:00:00Z')",
		"duration":  "duration(obj.data.value) > duration('1s')",
		"int":       "int(obj.data.value) > 1",
		"quantity":  "quantity(obj.data.value) == quantity('1')",
		"url":       "url('://' + obj.data.value).getHost() == ''",
		"ip":        "ip(obj.data.value).family() == 4",
		"semver":    "semver(obj.data.value).major() == 1",
		"regex":     "'a'.matches('(' + obj.data.value)",
		"index":     "obj[obj.data.value] == 1",
	} {
		views[name] = fmt.Sprintf(`
queries:
- include:
    resourceSelectorExpression: "resource == 'configmaps'"
    object:
      jsonPath: "{.metadata.name}"
      objectSelectorExpression: "has(obj.data.value) && %s"
namespaces: {names: [NAMESPACE]}`, expression)
	}
	streams := subscribeAll(t, namespace, views)
	kubectl(t, "create", "configmap", "-n", namespace, "values", "--from-literal=value="+hidden["value"])
	for name := range views {
		wantWarned(t, namespace, name, streams)
	}
	hidden.wantUnsaid(t, everythingSaid(t, namespace, views, streams))
}

// subscribeAll declares views and subscribes to each on every road.
func subscribeAll(t *testing.T, namespace string, views map[string]string) map[string]*stream {
	t.Helper()
	streams := map[string]*stream{}
	for name, spec := range views {
		declare(t, namespace, name, in(namespace, spec))
		for way, r := range roads(t) {
			streams[name+", "+way] = subscribe(t, r, namespace, name)
		}
	}
	return streams
}

// wantUnsaid wants no canary in any of the texts.
func (c canaries) wantUnsaid(t *testing.T, said map[string]string) {
	t.Helper()
	for what, text := range said {
		if where := c.find(text); where != "" {
			t.Errorf("%s: %s", what, where)
		}
	}
}

// wantSeen waits until a view's subscribers have its graph.
func wantSeen(t *testing.T, namespace, view string, views map[string]string, streams map[string]*stream) {
	t.Helper()
	eventually(t, func() string {
		want := expected(t, namespace, view, in(namespace, views[view]))
		for name, s := range streams {
			if diff := s.Differs(want); strings.HasPrefix(name, view+", ") && diff != "" {
				return name + " (-oracle +subscriber):\n" + diff
			}
		}
		return ""
	})
}

// wantWarned waits until a view's subscribers and its status have the warning about a failed
// expression.
func wantWarned(t *testing.T, namespace, view string, streams map[string]*stream) {
	t.Helper()
	eventually(t, func() string {
		for name, s := range streams {
			if strings.HasPrefix(name, view+", ") && len(s.Warnings()) == 0 {
				return name + " has no warning"
			}
		}
		if got, _ := statusOf(t, namespace, view); len(got.Warnings) == 0 {
			return "the status of " + view + " has no warning"
		}
		return ""
	})
}

// everythingSaid is all that the operator has said to anybody.
func everythingSaid(t *testing.T, namespace string, views map[string]string, streams map[string]*stream) map[string]string {
	t.Helper()
	events := ""
	eventually(t, func() string { // they come after the status
		events = kubectl(t, "get", "events.events.k8s.io", "-A", "-o", "yaml", "--field-selector=reportingController=graphview-controller")
		if !strings.Contains(events, "reason: Ready") {
			return fmt.Sprintf("no Events: %.500s", events)
		}
		return ""
	})
	said := map[string]string{
		"GraphViews": kubectl(t, "get", "graphviews", "-A", "-o", "yaml"),
		"Events":     events,
		"graphs":     kubectl(t, "get", "graphs", "-A", "-o", "yaml"),
	}
	for name, s := range streams {
		for i, m := range s.received() {
			said[fmt.Sprintf("stream %s, message %d", name, i)] = m.text
		}
	}
	for name := range views {
		for way, r := range roads(t) {
			code, body := r.get(t, graphPath(namespace, name))
			if code != http.StatusOK {
				t.Errorf("snapshot %s, %s: %d %s", name, way, code, body)
			}
			said["snapshot "+name+", "+way] = string(body)
		}
	}
	defer http.DefaultClient.CloseIdleConnections()
	code, metrics, err := fixture.Get(t.Context(), http.DefaultClient, manager.MetricsURL())
	if err != nil || code != http.StatusOK {
		t.Fatalf("metrics: %d %v", code, err)
	}
	said["metrics"] = string(metrics)
	log, err := os.ReadFile(manager.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	said["log"] = string(log)
	return said
}
