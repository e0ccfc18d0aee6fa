package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"graphview.dev/test/env"
	"graphview.dev/test/network"
)

// hubName is the audience of members' tokens, and part of the prefix of the hub's users in members.
const hubName = "local"

// Hub is two operators to which other operators connect through a load balancer.
type Hub struct {
	// Operator is a replica, and Other the other one.
	*Operator

	Other *Operator

	plane    *env.ControlPlane
	tunnels  []string // the addresses at which the replicas accept tunnels
	balancer *network.Path
}

// StartHub starts the two operators of a hub, after Install, and a load balancer. The caller closes the
// hub, after an error too.
func StartHub(plane *env.ControlPlane, o Options) (*Hub, error) {
	hub, args, name := &Hub{plane: plane}, o.Args, cmp.Or(o.Name, "hub")
	ports, err := env.FreePorts(2)
	if err != nil {
		return hub, err
	}
	for i, replica := range []**Operator{&hub.Operator, &hub.Other} {
		o.Name = fmt.Sprint(name, "-", i)
		hub.tunnels = append(hub.tunnels, fmt.Sprintf("127.0.0.1:%d", ports[i]))
		o.Args = append([]string{"--tunnel-bind-address=" + hub.tunnels[i], "--leader-elect", "--hub-name=" + hubName}, args...)
		if *replica, err = Start(plane, o); err != nil {
			return hub, err
		}
	}
	hub.balancer, err = network.NewPath(hub.tunnels...)
	return hub, err
}

// Close kills the replicas that still run, and ends the load balancer.
func (h *Hub) Close() {
	for _, replica := range []*Operator{h.Operator, h.Other} {
		if replica != nil {
			replica.Kill()
		}
	}
	if h.balancer != nil {
		h.balancer.Close()
	}
}

// Address returns the address of the load balancer.
func (h *Hub) Address() string { return h.balancer.Address() }

// Tunnels returns the addresses at which the replicas accept tunnels.
func (h *Hub) Tunnels() []string { return h.tunnels }

// MemberURL returns the URL at which the member of a link connects to an address of the hub.
func MemberURL(address, link string) string {
	_, port, _ := strings.Cut(address, ":")
	return "wss://localhost:" + port + "/tunnel/v1/clusters/" + link
}

// MemberGroup returns the name of a group or a user of the hub in members.
func MemberGroup(group string) string { return "hub:" + hubName + ":" + group }

// Join creates a ClusterLink at the hub, and starts the operator of another control plane, after Install, as its
// member. The caller stops the operator.
func (h *Hub) Join(ctx context.Context, link, displayName string, member *env.ControlPlane, o Options) (*Operator, error) {
	if err := h.declare(ctx, link, displayName, member); err != nil {
		return nil, err
	}
	token, err := member.Kubectl(ctx, "create", "token", account, "--namespace="+namespace, "--audience="+hubName, "--duration=24h")
	if err != nil {
		return nil, err
	}
	tokenFile, authorityFile := filepath.Join(member.Dir(), "hub-token"), filepath.Join(member.Dir(), "hub-ca.crt")
	if err := errors.Join(os.WriteFile(tokenFile, []byte(strings.TrimSpace(string(token))), 0o600), os.WriteFile(authorityFile, h.plane.CA(), 0o600)); err != nil {
		return nil, fmt.Errorf("join %s: %w", link, err)
	}
	o.Args = append([]string{
		"--hub-name=" + hubName, "--hub-url=" + MemberURL(h.Address(), link),
		"--hub-token-file=" + tokenFile, "--hub-ca-file=" + authorityFile,
	}, o.Args...)
	return Start(member, o)
}

// declare creates the ClusterLink of a member with the keys of its API server.
func (h *Hub) declare(ctx context.Context, link, displayName string, member *env.ControlPlane) error {
	keys, err := member.Kubectl(ctx, "get", "--raw", "/openid/v1/jwks")
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "graphview.dev/v1alpha1", "kind": "ClusterLink", "metadata": map[string]any{"name": link},
		"spec": map[string]any{"displayName": displayName, "identity": map[string]any{
			"issuer": "https://kubernetes.default.svc", "subject": "system:serviceaccount:" + namespace + ":" + account, "jwks": string(keys),
		}},
	})
	if err != nil {
		return fmt.Errorf("ClusterLink %s: %w", link, err)
	}
	_, err = h.plane.Apply(ctx, string(manifest))
	return err
}
