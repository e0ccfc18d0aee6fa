package installation

import (
	"context"
	"fmt"
	"path/filepath"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

// Options of an Installation. All but Args are required.
type Options struct {
	Plane *env.ControlPlane
	// Binary is the path of the operator.
	Binary string
	// Manifests are YAML. If they lack the operator's namespace, graphview-system, it is created. The namespace
	// enforces the restricted Pod Security Standard.
	Manifests []byte
	// Args come after the arguments of the Deployment, and win over them.
	Args []string
}

// Installation is a running operator with the arguments and the rights of its manifests.
type Installation struct {
	*operator.Process

	plane   *env.ControlPlane
	binary  string
	account string
	args    []string // of the Deployment

	// Ports on loopback.
	Stream, Webhook, Metrics, Health, Pprof int
}

// namespace of the operator.
const namespace = env.ServiceNamespace

// Start applies the manifests and starts the operator, which ends with the control plane at the
// latest.
func Start(ctx context.Context, o Options) (*Installation, error) {
	ports, err := env.FreePorts(5)
	if err != nil {
		return nil, err
	}
	i := &Installation{
		plane: o.Plane, binary: o.Binary,
		Stream: ports[0], Webhook: ports[1], Metrics: ports[2], Health: ports[3], Pprof: ports[4],
	}
	if err := i.Apply(ctx, o.Manifests); err != nil {
		return nil, err
	}
	if err := i.run(ctx, o.Args); err != nil {
		return nil, err
	}
	return i, nil
}

// Apply applies manifests, also after Start. The running operator keeps its
// arguments.
func (i *Installation) Apply(ctx context.Context, manifests []byte) error {
	objects, err := env.Objects(string(manifests))
	if err != nil {
		return err
	}
	deployed, err := deployment(objects)
	if err != nil {
		return err
	}
	i.account = deployed.Spec.Template.Spec.ServiceAccountName
	i.args = deployed.Spec.Template.Spec.Containers[0].Args
	if err := local(objects, i.Stream, i.Webhook); err != nil {
		return err
	}
	if _, err := i.plane.Apply(ctx, home); err != nil {
		return err
	}
	return i.plane.ApplyObjects(ctx, objects)
}

// home is the operator's namespace.
const home = "{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace +
	", labels: {app.kubernetes.io/name: graphview, pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/enforce-version: latest}}}"

// run starts the operator with the token of its ServiceAccount.
func (i *Installation) run(ctx context.Context, more []string) error {
	kubeconfig, err := i.Kubeconfig(ctx, i.account)
	if err != nil {
		return err
	}
	args := append([]string{}, i.args...)
	args = append(args,
		"--kubeconfig="+kubeconfig,
		fmt.Sprintf("--stream-bind-address=127.0.0.1:%d", i.Stream),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", i.Metrics),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", i.Health),
	)
	for _, arg := range i.args {
		if arg == "--webhook-bind-address=:9443" {
			args = append(args, fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", i.Webhook))
		}
	}
	i.Process, err = operator.Launch(i.plane, i.binary, append(args, more...)...)
	return err
}

// Kubeconfig writes a kubeconfig with a token of a ServiceAccount in the operator's
// namespace, and returns its path.
func (i *Installation) Kubeconfig(ctx context.Context, account string) (path string, err error) {
	config, err := i.plane.ServiceAccountConfig(ctx, namespace, account)
	if err != nil {
		return "", err
	}
	path = filepath.Join(i.plane.Dir(), account+".kubeconfig")
	return path, env.WriteKubeconfig(path, config)
}
