package operator

import (
	"context"
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
	for _, args := range [][]string{
		{"apply", "-f", filepath.Join(root, "config", "manager", "namespace.yaml")},
		{"apply", "-k", filepath.Join(root, "config", "rbac")},
	} {
		if _, err := plane.Kubectl(ctx, args...); err != nil {
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
