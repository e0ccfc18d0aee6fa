package history

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/document"
	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
	"graphview.dev/test/patience"
)

// within bounds everything that is waited for. It is no expectation.
const within = 90 * time.Second

// firstLines is the number of lines in which the cause must stand.
const firstLines = 5

// The marks of the table in docs/measured/history.md.
const (
	tableBegin = "<!-- walk:start, written by go test ./test/history -run TestWalk -update -->"
	tableEnd   = "<!-- walk:end -->"
)

var update = flag.Bool("update", false, "write the table of docs/measured/history.md")

// walk is one way to break the application of testdata/app.yaml.
type walk struct {
	Name, Broken, Object, LooksFor string
	// Cause is the expression for the line of changes with the cause. Named is the one for a text that names the cause.
	Cause, Named string
	Steps        [][]string
	// Node reports whether the node stops.
	Node   bool
	Pods   *podsState
	Events []event
}

// TestWalk: an application is broken in ten ways, and each time the cause stands within the first five lines of
// `kubectl graphview changes OBJECT`. With -update it writes the table of docs/measured/history.md.
func TestWalk(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "walk.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []walk
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, w := range all {
		t.Run(w.Name, func(t *testing.T) {
			k := kubelet{t, "walk-" + w.Name}
			k.install()
			k.breakIt(&w)
			k.makeNoise()
			table.WriteString(k.look(&w))
		})
	}
	if *update && !t.Failed() {
		text := "\n| broken | a person looks for | `changes OBJECT` | `changes` | `get events` | `describe OBJECT` |\n|---|---|---|---|---|---|\n" + table.String() + "\n"
		must.Do(document.Replace(filepath.Join("..", "..", "docs", "measured", "history.md"), tableBegin, tableEnd, text))
	}
}

// install applies the application, and lets it run.
func (k kubelet) install() {
	k.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "app.yaml"))
	if err != nil {
		k.Fatal(err)
	}
	fixture.Apply(k.T, cluster, strings.ReplaceAll(string(text), "NAMESPACE", k.namespace))
	k.setStatus("node", k.namespace, map[string]any{"conditions": []any{condition("Ready", "True", "KubeletReady")}})
	k.eventually(func() string {
		if n := len(k.pods()); n != 2 {
			return fmt.Sprintf("%d pods", n)
		}
		return ""
	})
	k.start(k.pods())
	for _, args := range [][]string{
		{"wait", "--for=condition=Available", "deployment/web", fixture.Timeout()},
		{"wait", "--for=condition=Ready", "graphview/all", fixture.Timeout()},
		{"wait", "--for=jsonpath={.status.phase}=Bound", "pvc/web-cache", fixture.Timeout()},
	} {
		k.kubectl(args...)
	}
}

func (k kubelet) eventually(check func() string) {
	k.Helper()
	fixture.Eventually(k.T, within, 100*time.Millisecond, check)
}

// breakIt breaks the application, and lets its pods suffer.
func (k kubelet) breakIt(w *walk) {
	k.Helper()
	before := k.pods()
	for _, step := range w.Steps {
		k.kubectl(step...)
		time.Sleep(time.Second) // people are not faster; nothing waits for it
	}
	if w.Node {
		k.setStatus("node", k.namespace, map[string]any{"conditions": []any{condition("Ready", "Unknown", "NodeStatusUnknown")}})
	}
	sick := before
	if w.Pods != nil && w.Pods.New {
		k.eventually(func() string {
			if sick = without(k.pods(), before); len(sick) == 0 {
				return "no pod is new"
			}
			return ""
		})
	}
	if w.Pods != nil {
		state := *w.Pods
		state.Message = strings.ReplaceAll(state.Message, "NAMESPACE", k.namespace)
		k.stop(sick, state)
	}
	for _, e := range w.Events {
		if e.Kind == "" {
			e.Kind, e.Name = "Pod", sick[0]
		}
		k.record(e)
	}
}

// makeNoise lets another application of the namespace work: its leader renews its lease, and its pods are replaced.
func (k kubelet) makeNoise() {
	k.Helper()
	api := k.api()
	for i := range 3 {
		renewal := fmt.Appendf(nil, `{"spec": {"renewTime": "2026-01-01T00:00:0%d.000000Z"}}`, i)
		if _, err := api.CoordinationV1().Leases(k.namespace).Patch(k.Context(), "batch-leader", types.MergePatchType, renewal, metav1.PatchOptions{}); err != nil {
			k.Fatal(err)
		}
		annotation := fmt.Appendf(nil, `{"metadata": {"annotations": {"control-plane.alpha.kubernetes.io/leader": "%d"}}}`, i)
		if _, err := api.CoreV1().ConfigMaps(k.namespace).Patch(k.Context(), "batch-leader", types.MergePatchType, annotation, metav1.PatchOptions{}); err != nil {
			k.Fatal(err)
		}
	}
	k.kubectl("delete", "pods", "-l", "app=batch")
	k.kubectl("set", "image", "deployment/batch", "batch=example.com/batch:3")
}

// look asks for the cause, and returns its row of the table.
func (k kubelet) look(w *walk) string {
	k.Helper()
	cause := regexp.MustCompile(strings.ReplaceAll(w.Cause, "NAMESPACE", k.namespace))
	named := regexp.MustCompile(w.Named)
	var answer string
	place := 0
	why := fixture.Wait(k.Context(), 15*time.Second, 500*time.Millisecond, func() string {
		answer = k.plugin("changes", w.Object)
		_, lines, _ := strings.Cut(answer, "\n") // the header
		if place = lineOf(cause, lines); place == 0 || place > firstLines {
			return fmt.Sprintf("the cause is in line %d", place)
		}
		return ""
	})
	k.Logf("%s\n$ kubectl graphview changes %s\n%s", w.Broken, w.Object, answer)
	if why != "" {
		k.Errorf("%s, and not in the first %d", why, firstLines)
	}
	_, lines, _ := strings.Cut(k.plugin("changes"), "\n")
	whole := lineOf(cause, lines)
	events := strings.Split(strings.TrimSpace(k.kubectl("get", "events", "--sort-by=.lastTimestamp")), "\n")
	newest := make([]string, 0, len(events))
	for i := len(events) - 1; i > 0; i-- {
		newest = append(newest, events[i])
	}
	described := lineOf(named, k.kubectl("describe", w.Object))
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", w.Broken, w.LooksFor, cell(place), cell(whole), cell(lineOf(named, strings.Join(newest, "\n"))), cell(described))
}

// cell is a line of a table, or a dash.
func cell(line int) string {
	if line == 0 {
		return "–"
	}
	return fmt.Sprint(line)
}

// lineOf returns the number of the first line that an expression matches, 0 if none does.
func lineOf(expression *regexp.Regexp, text string) int {
	for i, line := range strings.Split(text, "\n") {
		if expression.MatchString(line) {
			return i + 1
		}
	}
	return 0
}

// plugin runs the plugin in the namespace, and returns its output.
func (k kubelet) plugin(args ...string) string {
	k.Helper()
	return fixture.MustRun(k.T, k.command(args...))
}

// command returns a command of the plugin in the namespace.
func (k kubelet) command(args ...string) *exec.Cmd {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), patience.For(within))
	k.Cleanup(cancel)
	command := exec.CommandContext(ctx, cluster.KubectlPath(), append([]string{"graphview", "-n", k.namespace}, args...)...)
	command.Env = fixture.Shell(k.T, cluster, cluster.Config(), folder)
	return command
}
