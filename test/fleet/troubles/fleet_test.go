package troubles

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/network"
	"graphview.dev/test/operator"
	"graphview.dev/test/oracle"
)

// manifest is what each member has.
const manifest = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: hub}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "hub:local:system:masters"}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
` + graphView

const graphView = `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: shop}
spec:
  namespaces: {names: [shop]}
  queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
`

// fleet is a hub of two replicas and two members.
type fleet struct {
	binary  string
	hub     *operator.Hub
	api     *network.Path // from the hub to its API server
	members [2]*member    // trouble happens to the first
	view    oracle.View
}

// member is a cluster of the fleet.
type member struct {
	*operator.Operator

	link       string
	kubeconfig string
	plane      *env.ControlPlane
	tunnel     *network.Path // to the replicas of the hub, as a load balancer leads there
	api        *network.Path // to the API server
	writer     *writer
	all        []*follower
}

// startFleet starts a fleet, until the test ends.
func startFleet(t *testing.T) *fleet {
	t.Helper()
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{}
	if f.binary, err = fixture.Build(t.Context(), root, "manager", fixture.Race...); err != nil {
		t.Fatal(err)
	}
	if f.view, err = oracle.ParseView([]byte(graphView)); err != nil {
		t.Fatal(err)
	}
	for _, plane := range []*env.ControlPlane{hubPlane, memberPlanes[0], memberPlanes[1]} {
		if err := operator.Install(t.Context(), plane, root); err != nil {
			t.Fatal(err)
		}
	}
	f.api = path(t, hubPlane.URL())
	file, err := kubeconfig(hubPlane, f.api)
	if err != nil {
		t.Fatal(err)
	}
	f.hub, err = operator.StartHub(hubPlane, operator.Options{Binary: f.binary, Args: []string{"--kubeconfig=" + file}})
	t.Cleanup(f.hub.Close)
	if err != nil {
		t.Fatal(err)
	}
	for i, link := range []string{"eu-1", "us-1"} {
		f.members[i] = f.join(t, link, memberPlanes[i])
	}
	return f
}

// join starts a member with its writer and its subscribers.
func (f *fleet) join(t *testing.T, link string, plane *env.ControlPlane) *member {
	t.Helper()
	m := &member{link: link, plane: plane, api: path(t, plane.URL()), tunnel: path(t, f.hub.Tunnels()...)}
	file, err := kubeconfig(plane, m.api)
	if err != nil {
		t.Fatal(err)
	}
	m.kubeconfig = file
	if m.Operator, err = f.replica(t.Context(), m, link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Kill)
	fixture.Apply(t, plane, manifest)
	m.writer = write(t, plane)
	for _, transport := range []transport{lines, events, socket, channel} {
		for at := range f.replicas() {
			m.all = append(m.all, f.follow(t, m, transport, at))
		}
	}
	return m
}

// replica starts a replica of a member. The caller kills it.
func (f *fleet) replica(ctx context.Context, m *member, name string) (*operator.Operator, error) {
	return f.hub.Join(ctx, m.link, m.link, m.plane, operator.Options{
		Binary: f.binary, Name: name, Args: []string{"--hub-url=" + operator.MemberURL(m.tunnel.Address(), m.link), "--kubeconfig=" + m.kubeconfig},
	})
}

// replicas are those of the hub.
func (f *fleet) replicas() []*operator.Operator {
	return []*operator.Operator{f.hub.Operator, f.hub.Other}
}

// path returns a path to some addresses or URLs, until the test ends.
func path(t *testing.T, to ...string) *network.Path {
	t.Helper()
	for i := range to {
		to[i] = trimmed(to[i])
	}
	p, err := network.NewPath(to...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// kubeconfig writes that of the operator, with a path to the API server.
func kubeconfig(plane *env.ControlPlane, p *network.Path) (file string, err error) {
	config := plane.ClientConfig("system:serviceaccount:graphview-system:graphview-manager",
		"system:serviceaccounts", "system:serviceaccounts:graphview-system", "system:authenticated")
	config.Host = "https://" + p.Address()
	file = filepath.Join(plane.Dir(), "by-path.kubeconfig")
	return file, env.WriteKubeconfig(file, config)
}

// level waits until each subscriber has the graph of its member, and each replica of the hub a tunnel of
// each member. It returns why not.
func (f *fleet) level(ctx context.Context) string {
	for _, m := range f.members {
		resume := m.writer.pause()
		differs := fixture.Wait(ctx, 2*time.Minute, 100*time.Millisecond, func() string { return f.differs(ctx, m) })
		resume()
		if differs != "" {
			return differs
		}
	}
	return f.connected(ctx, len(f.members))
}

// connected waits until each replica of the hub has so many tunnels, and returns why it has not.
func (f *fleet) connected(ctx context.Context, tunnels int) string {
	return fixture.Wait(ctx, 2*time.Minute, 50*time.Millisecond, func() string {
		for i, replica := range f.replicas() {
			if n, err := replica.Metric(ctx, "graphview_tunnels"); err != nil || n < float64(tunnels) {
				return fmt.Sprintf("hub-%d has %v of %d tunnels, %v", i, n, tunnels, err)
			}
		}
		return ""
	})
}

func (f *fleet) differs(ctx context.Context, m *member) string {
	want, err := oracle.Build(ctx, m.plane.Config(), f.view)
	if err != nil {
		return err.Error()
	}
	for _, one := range m.all {
		if differs := one.Differs(want); differs != "" {
			return fmt.Sprintf("%s at %s: %s; told %v", one.name, m.link, differs, one.Told())
		}
	}
	return ""
}

// freeze stops a program where it is, while something is done.
func freeze(o *operator.Operator, while func() error) error {
	if err := syscall.Kill(o.PID(), syscall.SIGSTOP); err != nil {
		return err
	}
	return errors.Join(while(), syscall.Kill(o.PID(), syscall.SIGCONT))
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
