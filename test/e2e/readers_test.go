package e2e

import (
	"context"
	"os"
	"path/filepath"
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
`
)

func admitReaders(ctx context.Context) error {
	file := filepath.Join(cluster.Dir(), "readers.yaml")
	if err := os.WriteFile(file, []byte(readersManifest), 0o600); err != nil {
		return err
	}
	_, err := cluster.Kubectl(ctx, "apply", "-f", file)
	return err
}
