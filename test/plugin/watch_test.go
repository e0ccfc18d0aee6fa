package plugin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

const watched = "plugin-watch"

const watchedView = `
apiVersion: v1
kind: Namespace
metadata: {name: plugin-watch}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: plugin-watch}
spec:
  queries:
  - include:
      resourceSelectorExpression: "group == '' && resource in ['pods', 'configmaps']"
      object: {objectSelectorExpression: "name != 'kube-root-ca.crt'"}
  namespaces: {names: [plugin-watch]}
`

const watchedPod = `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: plugin-watch}
spec:
  automountServiceAccountToken: false
  containers:
  - {name: main, image: example.com/main, envFrom: [{configMapRef: {name: b}}]}
`

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, cluster, args...)
}

// decided leaves out lines about objects that the view has not judged yet. On a busy machine its expression
// counts as slow, and is then evaluated after the object is in the graph.
func decided(text string) string {
	return strings.Join(slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(line string) bool {
		return strings.Contains(line, "exists outside the view")
	}), "")
}

// A graph is followed through changes and through an operator that was killed,
// after which only the difference is told; Ctrl-C ends it well.
func TestWatch(t *testing.T) {
	fixture.Apply(t, cluster, watchedView)
	fixture.KubectlAfter(t, cluster, "delete", "namespace", watched, "--wait=false")
	kubectl(t, "-n", watched, "wait", "--for=condition=Ready", "graphview/view", fixture.Timeout())
	kubectl(t, "-n", watched, "wait", "--for=create", "serviceaccount/default", fixture.Timeout())

	var out, messages, errs fixture.Output
	ctx, stop := context.WithTimeout(t.Context(), patience.For(4*within))
	defer stop()
	text := shellOf(t, "admin").command(ctx, "watch", "view", "-n", watched)
	text.Stdout, text.Stderr = &out, &errs
	lines := shellOf(t, "admin").command(ctx, "watch", "view", "-n", watched, "-o", "json")
	lines.Stdout = &messages
	for _, command := range []*exec.Cmd{text, lines} {
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(want string) {
		t.Helper()
		eventually(t, func() string {
			if strings.Contains(out.String(), want) {
				return ""
			}
			return fmt.Sprintf("no %q in\n%s\n%s", want, out.String(), errs.String())
		})
	}
	shows("= the graph is complete")
	eventually(t, func() string {
		if strings.Contains(messages.String(), `"synced":true`) {
			return ""
		}
		return "no synced in " + messages.String()
	})
	kubectl(t, "-n", watched, "create", "configmap", "a")
	shows("+ ConfigMap/a\n")
	fixture.Apply(t, cluster, watchedPod)
	shows("+ Pod/p reads env of ConfigMap/b  MISSING")
	kubectl(t, "-n", watched, "create", "configmap", "b")
	shows("~ Pod/p reads env of ConfigMap/b  (")
	kubectl(t, "-n", watched, "label", "configmap", "a", "seen=yes")
	shows("~ ConfigMap/a\n")
	kubectl(t, "-n", watched, "delete", "configmap", "a")
	shows("- ConfigMap/a\n")
	golden(t, "watch", decided(out.String()))

	manager.Kill()
	told := len(out.String())
	kubectl(t, "-n", watched, "delete", "configmap", "b")
	kubectl(t, "-n", watched, "create", "configmap", "c")
	if err := manager.Restart(); err != nil {
		t.Fatal(err)
	}
	shows("- ConfigMap/b\n")
	shows("+ ConfigMap/c\n")
	want := []string{
		"+ ConfigMap/c\n", "- ConfigMap/b\n",
		"~ Pod/p reads env of ConfigMap/b  MISSING  (spec.containers[].envFrom[].configMapRef.name)\n",
	}
	eventually(t, func() string {
		if diff := cmp.Diff(want, slices.Sorted(strings.Lines(out.String()[told:]))); diff != "" {
			return "after the operator was killed (-want +got):\n" + diff
		}
		return ""
	})
	if !strings.Contains(errs.String(), "trying again") {
		t.Errorf("standard error does not say what happened: %s", errs.String())
	}
	for _, command := range []*exec.Cmd{text, lines} {
		// kubectl has become the plugin: one process.
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("Ctrl-C of %s: %v", command, err)
		}
	}
	for line := range strings.Lines(messages.String()) {
		if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}\n") {
			t.Errorf("%q is no message", line)
		}
	}
}
