package e2e

import (
	"context"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
)

// Identities that may read everything: a group, and a ServiceAccount.
const (
	readersGroup     = "e2e:readers"
	readersNamespace = "e2e-readers"
	readersAccount   = "dashboard"

	readersManifest = `
apiVersion: v1
kind: Namespace
metadata: {name: e2e-readers}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: dashboard, namespace: e2e-readers}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-reader}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e2e-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-reader}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "e2e:readers"}
- {kind: ServiceAccount, name: dashboard, namespace: e2e-readers}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "hub:local:e2e:readers"}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "hub:local:system:serviceaccount:e2e-readers:dashboard"}
`
)

func admitReaders(ctx context.Context) error {
	for _, plane := range []*env.ControlPlane{cluster, hubPlane} {
		if plane == nil {
			continue
		}
		file := filepath.Join(plane.Dir(), "readers.yaml")
		if err := os.WriteFile(file, []byte(readersManifest), 0o600); err != nil {
			return err
		}
		if _, err := plane.Kubectl(ctx, "apply", "-f", file); err != nil {
			return err
		}
	}
	return nil
}
