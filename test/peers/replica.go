package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/faults"
	"graphview.dev/test/operator"
)

// Namespace is where the operators are, and account who they are.
const (
	Namespace = "graphview-system"
	account   = "system:serviceaccount:" + Namespace + ":graphview-manager"
)

// Install applies what replicas that share views need of the module at root.
func Install(ctx context.Context, plane *env.ControlPlane, root string) error {
	if err := operator.Install(ctx, plane, root); err != nil {
		return err
	}
	return operator.InstallSharing(ctx, plane, root)
}

// Options of a replica. Binary and Name are required.
type Options struct {
	Binary, Name string
	// Edge makes it a replica that holds nothing but what the others do not serve: it
	// cannot announce itself, so that no view is its own.
	Edge bool
	// Args override the default arguments of a replica; Env are variables, as NAME=value.
	Args, Env []string
}

// Replica is one operator, the way of the others to it, and its way to the API server.
type Replica struct {
	*operator.Operator

	Name string
	Link *Link
	API  *faults.Proxy
}

// Start starts a replica. Close ends what is around it.
func Start(plane *env.ControlPlane, o Options) (*Replica, error) {
	ports, err := env.FreePorts(1)
	if err != nil {
		return nil, err
	}
	relays := fmt.Sprintf("127.0.0.1:%d", ports[0])
	r := &Replica{Name: o.Name}
	if r.Link, err = NewLink(relays); err != nil {
		return nil, err
	}
	if err := r.start(plane, &o, []string{
		"--view-holders=1", "--relay-bind-address=" + relays, "--relay-advertise-address=" + r.Link.Address(),
	}); err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	return r, nil
}

func (r *Replica) start(plane *env.ControlPlane, o *Options, args []string) error {
	dir := filepath.Join(plane.Dir(), o.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := plane.ServingCertificate(dir); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return err
	}
	identity := plane.ClientConfig(account, "system:serviceaccounts", "system:serviceaccounts:"+Namespace, "system:authenticated")
	if r.API, err = faults.NewProxy(identity, pair); err != nil {
		return err
	}
	if o.Edge {
		r.API.Break(1, faults.Fault{Verbs: []string{"create", "update"}, Resources: []string{"leases"}, Chance: 1, Code: http.StatusServiceUnavailable})
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := env.WriteKubeconfig(kubeconfig, r.API.Config(plane.CA())); err != nil {
		return err
	}
	r.Operator, err = operator.Start(plane, operator.Options{
		Binary: o.Binary, Name: o.Name, Env: append([]string{"POD_NAME=" + o.Name}, o.Env...), Args: append(append([]string{"--kubeconfig=" + kubeconfig}, args...), o.Args...),
	})
	return err
}

// StartEdge starts two replicas: a holder of all views, and an edge. It returns when the
// edge knows the holder, and so does not hold views itself.
func StartEdge(ctx context.Context, plane *env.ControlPlane, holding, serving Options) (holder, edge *Replica, err error) {
	holding.Name, serving.Name, serving.Edge = "holder", "edge", true
	if holder, err = Start(plane, holding); err != nil {
		return nil, nil, err
	}
	if edge, err = Start(plane, serving); err != nil {
		holder.Close()
		return nil, nil, err
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		n, err := edge.Metric(ctx, "graphview_replicas")
		if err == nil && n == 1 {
			return holder, edge, nil
		}
		select {
		case <-ctx.Done():
			holder.Close()
			edge.Close()
			return nil, nil, fmt.Errorf("the edge knows of %v replicas: %w", n, errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

// Close kills the replica if it still runs, and ends what is around it.
func (r *Replica) Close() {
	if r.Operator != nil {
		r.Kill()
	}
	r.Link.Close()
	if r.API != nil {
		r.API.Close()
	}
}
