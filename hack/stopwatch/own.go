package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/installation"
)

// own are the commands that docs/kubectl.md has for a graph of one's own, after those
// for an application of one's own.
var own = []string{
	"kubectl create namespace mine && kubectl -n mine create deployment web --image=nginx",
	"kubectl -n mine create serviceaccount viewer && kubectl -n mine create rolebinding viewer --clusterrole=view --serviceaccount=mine:viewer",
	"kubectl graphview new deployment web -n mine | kubectl apply -f -",
	"kubectl wait --for=condition=Ready -n mine graphview/web --timeout=60s",
	"kubectl graphview tree web -n mine",
}

// ownGraph installs the operator on a bare control plane, and draws a graph of an
// application that has just been made there.
func ownGraph(ctx context.Context, root string) (c *clock, err error) {
	c = startClock()
	plane, err := env.Start(ctx, env.Options{ControllerManager: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	c.lap("a control plane is there (`kind create cluster`)")
	manifests, err := plane.Kubectl(ctx, "kustomize", filepath.Join(root, "config", "default"))
	if err != nil {
		return nil, err
	}
	operator, err := installation.Start(ctx, installation.Options{Plane: plane, Binary: filepath.Join(root, "bin", "manager"), Manifests: manifests})
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		operator.Stop(ctx)
	}()
	c.lap("`kubectl apply --server-side -k config/default` has installed the operator, and it has been started")
	if _, err := plane.Kubectl(ctx, "wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", "--timeout=60s"); err != nil {
		return nil, err
	}
	c.lap("its API is available")
	var out string
	for _, command := range own {
		if out, err = shell(ctx, plane, root, command); err != nil {
			return nil, err
		}
		c.lap("`" + command + "`")
	}
	if !strings.Contains(out, "Deployment/web") {
		return nil, fmt.Errorf("the tree has no Deployment/web:\n%s", out)
	}
	return c, nil
}

// shell runs a command as the administrator of the cluster types it.
func shell(ctx context.Context, plane *env.ControlPlane, root, text string) (string, error) {
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	command.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+filepath.Dir(plane.KubectlPath())+":"+os.Getenv("PATH"),
		"KUBECONFIG="+filepath.Join(plane.Dir(), "kubeconfig"), "KUBECACHEDIR="+filepath.Join(plane.Dir(), "cache"))
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", text, err, out)
	}
	return string(out), nil
}
