package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

// members are the clusters of the fleet, by the names of their ClusterLinks.
var members = []struct{ link, displayName string }{{"eu-1", "Europe 1"}, {"us-1", "United States 1"}}

// runFleet starts a hub and its members, shows the fleet for a while, and ends everything. That ctx
// is done is no error.
func runFleet(ctx context.Context, duration time.Duration) (err error) {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	planes, err := startPlanes(ctx, 1+len(members))
	defer func() {
		for _, plane := range planes {
			if plane == nil {
				continue
			}
			if err != nil {
				fmt.Fprint(os.Stderr, plane.Logs()) // they go with the control plane
			}
			err = errors.Join(err, plane.Stop())
		}
	}()
	if err != nil {
		return unlessDone(ctx, err)
	}
	for _, plane := range planes {
		if err := operator.Install(ctx, plane, root); err != nil {
			return unlessDone(ctx, err)
		}
	}
	options := operator.Options{Binary: filepath.Join(root, "bin", "manager")}
	if err := operator.InstallSharing(ctx, planes[0], root); err != nil {
		return unlessDone(ctx, err)
	}
	hub, err := operator.StartHub(planes[0], options)
	for _, replica := range []*operator.Operator{hub.Operator, hub.Other} {
		if replica != nil {
			defer stopOperator(ctx, replica)
		}
	}
	if err != nil {
		return fmt.Errorf("%w (`make run-fleet` compiles it)", err)
	}
	for i, m := range members {
		member, err := hub.Join(ctx, m.link, m.displayName, planes[1+i], options)
		if err != nil {
			return unlessDone(ctx, err)
		}
		defer stopOperator(ctx, member)
	}
	if err := hub.Register(ctx); err != nil {
		return unlessDone(ctx, err)
	}
	for i := range members {
		if err := applyMemberSamples(ctx, planes[1+i], root); err != nil {
			return unlessDone(ctx, err)
		}
	}
	if err := showFleet(ctx, planes[0], root); err != nil {
		return unlessDone(ctx, err)
	}
	page, err := openDashboard(ctx, planes[0], root, "Ctrl-C ends the hub and its members.\nOpen the page at the hub (the address works once, in one browser), and choose a cluster:", "--link", members[0].link)
	if err != nil {
		return unlessDone(ctx, err)
	}
	defer page.stop()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	select {
	case <-ctx.Done():
		return unlessDone(ctx, context.Cause(ctx))
	case <-hub.Done():
		return hub.Exited()
	}
}

// startPlanes starts n control planes at the same time. With an error it returns the running ones,
// which the caller stops.
func startPlanes(ctx context.Context, n int) ([]*env.ControlPlane, error) {
	planes := make([]*env.ControlPlane, n)
	var group errgroup.Group
	for i := range planes {
		group.Go(func() (err error) {
			planes[i], err = env.Start(ctx, env.Options{ControllerManager: true, Log: os.Stdout})
			return err
		})
	}
	return planes, group.Wait()
}

// applyMemberSamples applies config/samples in a member, and lets the administrators of the hub read
// there.
func applyMemberSamples(ctx context.Context, plane *env.ControlPlane, root string) error {
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "config", "samples")},
		{"create", "clusterrolebinding", "hub-administrators", "--clusterrole=view", "--group=" + operator.MemberGroup("system:masters")},
		{"wait", "--for=condition=Ready", "graphviews", "--all", "-A", "--timeout=60s"},
	} {
		if _, err := plane.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// showFleet prints the links once they are connected, and how to look at the members' graphs.
func showFleet(ctx context.Context, hub *env.ControlPlane, root string) error {
	if _, err := hub.Kubectl(ctx, "wait", "--for=condition=Connected", "clusterlinks", "--all", "--timeout=60s"); err != nil {
		return err
	}
	if err := kubectl(ctx, hub, "get", "clusterlinks"); err != nil {
		return err
	}
	var graphs strings.Builder
	for _, m := range members {
		path := fmt.Sprintf("%s/clusters/%s/proxy%s", graphsPath, m.link, graphsPath)
		if _, err := hub.Kubectl(ctx, "get", "--raw", path+"/graphs"); err != nil {
			return err
		}
		fmt.Fprintf(&graphs, "  kubectl get --raw '%s/graphs'\n  kubectl get --raw '%s/namespaces/%s/graphs/%s'\n", path, path, sampleNamespace, sampleView)
	}
	fmt.Printf(`
kubectl at the hub, in another terminal (the members grant these rights to the hub's administrators):
  export KUBECONFIG=%s
  export PATH=%s:%s:$PATH
  kubectl get clusterlinks
%s  kubectl patch clusterlink %s --type=merge -p '{"spec":{"suspend":true}}'   # and false again
`, filepath.Join(hub.Dir(), "kubeconfig"), filepath.Join(root, "bin"), filepath.Dir(hub.KubectlPath()), graphs.String(), members[0].link)
	return nil
}
