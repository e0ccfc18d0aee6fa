package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"graphview.dev/test/env"
)

// The operator's identity, as config/rbac has it.
const (
	operatorNamespace = "graphview-system"
	operatorAccount   = "graphview-manager"
)

// operator is the running bin/manager.
type operator struct {
	process *env.Process
	port    int // of the stream
}

// startOperator installs what the operator needs and starts it.
func startOperator(ctx context.Context, plane *env.ControlPlane, root string) (*operator, error) {
	if err := plane.InstallCRDs(ctx, filepath.Join(root, "config", "crd", "bases")); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"apply", "-f", filepath.Join(root, "config", "manager", "namespace.yaml")},
		{"apply", "-k", filepath.Join(root, "config", "rbac")},
	} {
		if _, err := plane.Kubectl(ctx, args...); err != nil {
			return nil, err
		}
	}
	// A certificate for the ServiceAccount's name rather than its token, which
	// would expire while somebody watches.
	account := plane.ClientConfig("system:serviceaccount:"+operatorNamespace+":"+operatorAccount,
		"system:serviceaccounts", "system:serviceaccounts:"+operatorNamespace, "system:authenticated")
	kubeconfig := filepath.Join(plane.Dir(), "manager.kubeconfig")
	if err := os.WriteFile(kubeconfig, env.Kubeconfig(account), 0o600); err != nil {
		return nil, fmt.Errorf("write kubeconfig: %w", err)
	}
	certificates := filepath.Join(plane.Dir(), "manager-certificates")
	if err := os.MkdirAll(certificates, 0o700); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := plane.ServingCertificate(certificates, env.ServiceName+"."+env.ServiceNamespace+".svc"); err != nil {
		return nil, err
	}
	ports, err := env.FreePorts(3)
	if err != nil {
		return nil, err
	}
	process, err := plane.Run("manager", filepath.Join(root, "bin", "manager"),
		"--kubeconfig="+kubeconfig,
		"--stream-cert-dir="+certificates,
		fmt.Sprintf("--stream-bind-address=127.0.0.1:%d", ports[0]),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[2]),
	)
	if err != nil {
		return nil, fmt.Errorf("%w (`make run` compiles it)", err)
	}
	return &operator{process: process, port: ports[0]}, nil
}

// register makes the API server serve the graphs too, and returns when it does.
func (o *operator) register(ctx context.Context, plane *env.ControlPlane) error {
	return plane.RegisterAPIService(ctx, o.port, plane.CA())
}

// stop gives the operator a moment to say goodbye to its subscribers.
func (o *operator) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	o.process.Terminate(ctx)
}
