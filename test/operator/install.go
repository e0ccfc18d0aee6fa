package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
)

// The operator's identity, as config/rbac has it.
const (
	namespace = "graphview-system"
	account   = "graphview-manager"
)

// Install applies what the operator needs of the module at root:
// CustomResourceDefinitions, its namespace, and its rights.
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

// writeKubeconfig gives the operator its identity: a certificate for the
// ServiceAccount's name rather than its token, which would expire in a long run.
func writeKubeconfig(plane *env.ControlPlane) (path string, err error) {
	config := plane.ClientConfig("system:serviceaccount:"+namespace+":"+account,
		"system:serviceaccounts", "system:serviceaccounts:"+namespace, "system:authenticated")
	// Each has its own: another that starts would read one that is being written as empty.
	file, err := os.CreateTemp(plane.Dir(), "manager-*.kubeconfig")
	if err != nil {
		return "", fmt.Errorf("write kubeconfig: %w", err)
	}
	_, err = file.Write(env.Kubeconfig(config))
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write kubeconfig: %w", err)
	}
	return file.Name(), nil
}
