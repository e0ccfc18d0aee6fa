package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// The sample that is shown and changed. The view shows the whole namespace, the broken objects too.
const (
	sampleNamespace = "shop"
	sampleView      = "everything"
)

// applySamples applies config/samples, breaks the objects that docs/walkthrough.md looks for, and
// prints the GraphViews once they are ready.
func applySamples(ctx context.Context, plane *env.ControlPlane, sample *pods, root string) {
	fmt.Println("samples: applying config/samples")
	must.Get(plane.Kubectl(ctx, "apply", "-k", filepath.Join(root, "config", "samples")))
	fmt.Println("samples: breaking one: find out on the page why the pod worker-0 cannot start")
	kubectl(ctx, plane, "-n", sampleNamespace, "delete", "configmap", "worker")
	for _, condition := range []string{"Ready", "Complete"} {
		must.Get(plane.Kubectl(ctx, "wait", "--for=condition="+condition, "graphviews", "--all", "-A", "--timeout=60s"))
	}
	must.Get(plane.Kubectl(ctx, "-n", sampleNamespace, "wait", "--for=create", "pod/worker-0", "--timeout=60s"))
	for range 2 { // to the node, and to its status
		must.Do(sample.write(ctx))
	}
	kubectl(ctx, plane, "get", "graphviews", "-A")
}

// kubectl runs a command, and prints it and its output.
func kubectl(ctx context.Context, plane *env.ControlPlane, args ...string) {
	fmt.Printf("\n$ kubectl %s\n", strings.Join(quoted(args), " "))
	out, err := plane.Kubectl(ctx, args...)
	fmt.Print(string(out))
	must.Do(err)
}

// quoted returns arguments in the form that a user types.
func quoted(args []string) []string {
	words := slices.Clone(args)
	for i, word := range words {
		if strings.ContainsAny(word, ` {}"`) {
			words[i] = "'" + word + "'"
		}
	}
	return words
}

// changes are made one after another, again and again. web-new is deleted just before it is created again, so that
// only the object that docs/walkthrough.md looks for is missing for long.
var changes = [][]string{
	{"scale", "deployment/web", "--replicas=3"},
	{"label", "deployment/web", "visited=yes", "--overwrite"},
	{"delete", "pod", "--selector=app.kubernetes.io/name=web", "--wait=false"},
	{"delete", "configmap", "web-new", "--ignore-not-found"},
	{"create", "configmap", "web-new", "--from-literal=default.conf=server{}"},
	{"patch", "deployment/web", "--type=strategic", "-p", `{"spec":{"template":{"spec":{"volumes":[{"name":"config","configMap":{"name":"web-new"}}]}}}}`},
	{"patch", "deployment/web", "--type=strategic", "-p", `{"spec":{"template":{"spec":{"volumes":[{"name":"config","configMap":{"name":"web"}}]}}}}`},
	{"label", "deployment/web", "visited-"},
	{"scale", "deployment/web", "--replicas=2"},
}

// pause is the time between two changes.
const pause = 2500 * time.Millisecond

// changeSample makes the changes until ctx is done.
func changeSample(ctx context.Context, plane *env.ControlPlane) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for i := 0; ; i = (i + 1) % len(changes) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if _, err := plane.Kubectl(ctx, append([]string{"-n", sampleNamespace}, changes[i]...)...); err != nil {
			return err
		}
	}
}
