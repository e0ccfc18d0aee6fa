package operator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
)

// The operator's identity in config/rbac.
const (
	namespace = "graphview-system"
	account   = "graphview-manager"
)

// Install applies the manifests of the module at root:
// CustomResourceDefinitions, the operator's namespace, and its rights.
func Install(ctx context.Context, plane *env.ControlPlane, root string) error {
	if err := plane.InstallCRDs(ctx, filepath.Join(root, "config", "crd", "bases")); err != nil {
		return err
	}
	home, err := os.ReadFile(filepath.Join(root, "config", "manager", "namespace.yaml"))
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	rights, err := plane.Kubectl(ctx, "kustomize", filepath.Join(root, "config", "rbac"))
	if err != nil {
		return err
	}
	for _, manifest := range [][]byte{home, rights} {
		if _, err := plane.Apply(ctx, string(manifest)); err != nil {
			return err
		}
	}
	return nil
}

// writeKubeconfig writes a kubeconfig with the operator's identity: a certificate for the
// ServiceAccount's name rather than its token, which would expire in a long run.
func writeKubeconfig(plane *env.ControlPlane) (path string, err error) {
	config := plane.ClientConfig("system:serviceaccount:"+namespace+":"+account,
		"system:serviceaccounts", "system:serviceaccounts:"+namespace, "system:authenticated")
	path = filepath.Join(plane.Dir(), "manager.kubeconfig")
	return path, env.WriteKubeconfig(path, config)
}
