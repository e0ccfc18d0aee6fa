package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
)

// restarted are the objects that TestRestart changes, and the view of them.
const restarted = `
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: all, namespace: NAMESPACE}
spec:
  queries: [{include: {resourceSelectorExpression: "resource in ['configmaps', 'secrets', 'pods']"}}]
  namespaces: {names: [NAMESPACE]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: NAMESPACE, labels: {app: web}}
spec: {containers: [{name: web, image: example.com/web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: NAMESPACE, labels: {app: web}}
spec: {containers: [{name: web, image: example.com/web}]}
`

// TestRestart kills the operator, and changes objects before it starts it again. The history has an entry for each
// object that changed, with the time as a range, and for no other.
func TestRestart(t *testing.T) {
	k := kubelet{t, "restart"}
	fixture.Apply(t, cluster, strings.ReplaceAll(restarted, "NAMESPACE", k.namespace))
	for _, name := range []string{"kept", "edited", "gone", "recreated", "late"} {
		k.kubectl("create", "configmap", name, "--from-literal=key=before")
		k.kubectl("create", "secret", "generic", name, "--from-literal=key=before")
	}
	k.start([]string{"web-0", "web-1"})
	k.kubectl("wait", "--for=condition=Ready", "graphview/all", fixture.Timeout())
	k.kubectl("patch", "configmap", "late", "-p", `{"data": {"key": "after"}}`)
	k.eventually(func() string {
		if recorded := k.changes(false); !slices.Contains(recorded, "ConfigMap late content data.key") {
			return fmt.Sprintf("the live changes are %q", recorded)
		}
		return ""
	})
	k.awaitWrites()
	moment := time.Now().UTC()
	manager.Kill()

	began := time.Now()
	for _, kind := range []string{"configmap", "secret"} {
		k.kubectl("patch", kind, "edited", "-p", `{"data": {"key": "YWZ0ZXI="}}`)
		k.kubectl("delete", kind, "gone", "recreated")
	}
	k.kubectl("create", "configmap", "recreated", "--from-literal=key=before")
	k.kubectl("create", "secret", "generic", "recreated", "--from-literal=key=before")
	k.kubectl("create", "configmap", "added", "--from-literal=key=before")
	k.stop([]string{"web-1"}, podsState{Reason: "CrashLoopBackOff"})
	ended := time.Now()
	if err := manager.Restart(); err != nil {
		t.Fatal(err)
	}

	want := []string{
		"ConfigMap added added", "ConfigMap edited content", "ConfigMap gone removed", "ConfigMap recreated added", "ConfigMap recreated removed",
		"Pod web-1 health ok>degraded",
		"Secret edited content", "Secret gone removed", "Secret recreated added", "Secret recreated removed",
	}
	k.eventually(func() string { return cmp.Diff(want, k.changes(true)) })
	for _, c := range k.answer().Changes {
		if c.Earliest != nil && (c.Earliest.After(ended) || c.Time.Time.Before(began)) {
			t.Errorf("%s %s: between %s and %s, and it was between %s and %s", c.Kind, c.Key.Name, c.Earliest, c.Time, began, ended)
		}
	}
	if recorded := k.changes(false); !slices.Contains(recorded, "ConfigMap late content data.key") {
		t.Errorf("the history before the restart is %q", recorded)
	}
	if text := k.plugin("changes", "configmap/edited"); !strings.Contains(text, "changed while nothing was recorded (between ") {
		t.Error(text)
	}
	command := k.command("tree", "--at", moment.Format(time.RFC3339))
	if _, stderr, code := fixture.Run(t, command); code == 0 || !strings.Contains(stderr, "the history of this graph begins at") {
		t.Errorf("the graph before the restart: %d, %s", code, stderr)
	}
}

// answer returns the history of the view.
func (k kubelet) answer() (answer client.Changes) {
	k.Helper()
	if err := json.Unmarshal([]byte(k.plugin("changes", "-o", "json")), &answer); err != nil {
		k.Fatal(err)
	}
	return answer
}

// changes returns the changes of the view, those with a range or the others.
func (k kubelet) changes(ranges bool) (lines []string) {
	k.Helper()
	stdout, _, code := fixture.Run(k.T, k.command("changes", "-o", "json"))
	var answer client.Changes
	if code != 0 || json.Unmarshal([]byte(stdout), &answer) != nil {
		return nil // the operator starts
	}
	for _, c := range answer.Changes {
		if (c.Earliest != nil) != ranges {
			continue
		}
		line := fmt.Sprint(c.Kind, " ", c.Key.Name, " ", c.Type)
		if c.Health != nil && c.Type == client.ChangeHealth {
			line += fmt.Sprint(" ", c.Health.From, ">", c.Health.To)
		}
		for _, p := range c.Paths {
			line += " " + p.Path
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// awaitWrites waits until the operator has written its history twice: then the file has all that happened before.
func (k kubelet) awaitWrites() {
	k.Helper()
	for range 2 {
		before := k.written()
		k.eventually(func() string {
			if k.written().Equal(before) {
				return "the history is not written"
			}
			return ""
		})
	}
}

func (k kubelet) written() time.Time {
	k.Helper()
	file, err := os.Stat(filepath.Join(historyDir(), "history.db"))
	if err != nil {
		k.Fatal(err)
	}
	return file.ModTime()
}
