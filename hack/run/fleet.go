package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
)

// members are the clusters of the fleet, by the names of their ClusterLinks.
var members = []struct{ link, displayName string }{{"eu-1", "Europe 1"}, {"us-1", "United States 1"}}

// runFleet starts a hub and its members, and shows the fleet for a while.
func runFleet(ctx context.Context, planes []*env.ControlPlane, root string, duration time.Duration) {
	for _, plane := range planes {
		must.Do(operator.Install(ctx, plane, root))
	}
	options := operator.Options{Binary: filepath.Join(root, "bin", "manager")}
	hub, err := operator.StartHub(planes[0], options)
	defer func() { hub.Close() }() // after an error too, for the processes that have started
	for _, replica := range []*operator.Operator{hub.Operator, hub.Other} {
		if replica != nil {
			defer stopOperator(ctx, replica)
		}
	}
	if err != nil {
		must.Do(fmt.Errorf("%w (`make run-fleet` compiles it)", err))
	}
	for i, m := range members {
		member := must.Get(hub.Join(ctx, m.link, m.displayName, planes[1+i], options))
		defer stopOperator(ctx, member)
	}
	must.Do(hub.Register(ctx))
	for i := range members {
		applyMemberSamples(ctx, planes[1+i], root)
	}
	showFleet(ctx, planes[0], root)
	page := openDashboard(ctx, planes[0], root, "Ctrl-C ends the hub and its members.\nOpen the page at the hub (the address works once, in one browser), and choose a cluster:", "--link", members[0].link)
	defer page.stop()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	select {
	case <-ctx.Done(): // Ctrl-C, or the end of -for
	case <-hub.Done():
		must.Do(hub.Exited())
	}
}

// applyMemberSamples applies config/samples in a member, and lets the administrators of the hub read
// there.
func applyMemberSamples(ctx context.Context, plane *env.ControlPlane, root string) {
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "config", "samples")},
		{"create", "clusterrolebinding", "hub-administrators", "--clusterrole=view", "--group=" + operator.MemberGroup("system:masters")},
		{"wait", "--for=condition=Ready", "graphviews", "--all", "-A", "--timeout=60s"},
	} {
		must.Get(plane.Kubectl(ctx, args...))
	}
}

// showFleet prints the ClusterLinks once they are connected, and commands for the members' graphs.
func showFleet(ctx context.Context, hub *env.ControlPlane, root string) {
	must.Get(hub.Kubectl(ctx, "wait", "--for=condition=Ready", "clusterlinks", "--all", "--timeout=60s"))
	kubectl(ctx, hub, "get", "clusterlinks")
	var graphs strings.Builder
	for _, m := range members {
		path := fmt.Sprintf("%s/clusters/%s/proxy%s", graphsPath, m.link, graphsPath)
		must.Get(hub.Kubectl(ctx, "get", "--raw", path+"/graphs"))
		fmt.Fprintf(&graphs, "  kubectl get --raw '%s/graphs'\n  kubectl get --raw '%s/namespaces/%s/graphs/%s'\n", path, path, sampleNamespace, sampleView)
	}
	fmt.Printf(`
kubectl at the hub, in another terminal (the members grant these rights to the hub's administrators):
  export KUBECONFIG=%s
  export PATH=%s:%s:$PATH
  kubectl get clusterlinks
%s  kubectl patch clusterlink %s --type=merge -p '{"spec":{"suspend":true}}'   # and false again
`, filepath.Join(hub.Dir(), "kubeconfig"), filepath.Join(root, "bin"), filepath.Dir(hub.KubectlPath()), graphs.String(), members[0].link)
}
