package replicas

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/stream/relay/wire"
	"graphview.dev/test/faults"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/peers"
)

// TestDisagreement: a view is read through at most one other replica, whatever the replicas
// know of each other. Here each one sees only the next, so that they rank differently.
func TestDisagreement(t *testing.T) {
	s := newScene(t, 3)
	for i, r := range edges {
		hidden := map[string]bool{edges[(i+2)%len(edges)].Link.Address(): true}
		r.API.Break(1, faults.Fault{Verbs: []string{"list"}, Resources: []string{"leases"}, Chance: 1, Answered: func(body []byte) []byte { return without(body, hidden) }})
		t.Cleanup(r.API.Heal)
	}
	eventually(t, func() string { return knowing(t, edges, 2) })
	for _, key := range s.keys() {
		for _, edge := range edges {
			relays(t, 0, 0)
			r := read(t, cluster.Config(), edge, key[0], key[1])
			s.equal([]*reader{r})
			asEdge, asHolder := sum(t, "graphview_relays", "role", "edge"), sum(t, "graphview_relays", "role", "holder")
			if asEdge > 1 || asEdge != asHolder {
				t.Errorf("%s, read at %s: %v relays are open, and %v are served", r.view, edge.Name, asEdge, asHolder)
			}
			r.stop()
		}
	}
	for _, r := range edges {
		r.API.Heal()
	}
	settled(t, edges)
}

// sum returns the sum of a series over all replicas.
func sum(t *testing.T, name string, labels ...string) (total int) {
	t.Helper()
	for _, r := range edges {
		total += int(metric(t, r, name, labels...))
	}
	return total
}

// relays waits until this number of relays is open at the edges and at the holders.
func relays(t *testing.T, asEdge, asHolder int) {
	t.Helper()
	eventually(t, func() string {
		e, h := sum(t, "graphview_relays", "role", "edge"), sum(t, "graphview_relays", "role", "holder")
		if e != asEdge || h != asHolder {
			return fmt.Sprintf("%d relays are open, want %d; %d are served, want %d", e, asEdge, h, asHolder)
		}
		return ""
	})
}

// TestOneUpstream: many subscribers at one replica, with three sets of rights, use one relay
// for each view, and the holder encodes no more than for three subscribers.
func TestOneUpstream(t *testing.T) {
	const views, crowd = 4, 10 // readers of each view, for each set of rights
	s := newScene(t, 1)
	home := s.namespaces[0]
	for i := range views {
		s.declare(home, fmt.Sprint("view-", i), "resource in ['configmaps', 'secrets', 'services']", home)
	}
	first := read(t, cluster.Config(), edges[0], home, "view-0")
	s.equal([]*reader{first})
	holder := holderOf(t, first)
	edge := others(holder)[0]
	first.stop()
	relays(t, 0, 0)

	people := map[string]*rest.Config{}
	for name, resources := range map[string][]string{"one": {"configmaps"}, "two": {"configmaps", "services"}, "three": {"configmaps", "secrets", "services"}} {
		user := name + "-" + home
		people[name] = cluster.ClientConfig(user)
		s.grant(home, name, user, graphs, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"list", "watch"}})
	}
	var readers []*reader
	join := func(n int) {
		t.Helper()
		for i := range views {
			for _, config := range people {
				for range n {
					readers = append(readers, read(t, config, edge, home, fmt.Sprint("view-", i)))
				}
			}
		}
		s.alike(readers)
	}
	encoded := func() int {
		t.Helper()
		before := metric(t, holder, "graphview_encodings_total")
		for range 10 {
			s.add(home)
			s.alike(readers)
		}
		return int(metric(t, holder, "graphview_encodings_total") - before)
	}
	join(1)
	few := encoded()
	join(crowd - 1)
	many := encoded()
	relays(t, views, views)
	// A subscriber that is behind may get two changes at once, in a separate encoding.
	if few < 10*views*len(people) || many > 2*few {
		t.Errorf("10 changes were encoded %d times for %d subscribers, and %d times for %d of them", many, len(readers), few, len(readers)/crowd)
	}
	for _, r := range readers {
		r.undisturbed(t)
	}
}

// alike waits until each reader has all created ConfigMaps.
func (s *scene) alike(readers []*reader) {
	s.t.Helper()
	eventually(s.t, func() string {
		for _, r := range readers {
			n := 0
			r.Look(func(c *oracle.Client) { n = len(c.Graph().Vertices) })
			if err := r.Err(); err != nil {
				return err.Error()
			}
			if n < s.made {
				return fmt.Sprintf("%s has %d vertices, want %d", r.view, n, s.made)
			}
		}
		return ""
	})
}

// TestRelayCertificateAtTheStreamPort: the certificate that replicas share authenticates no
// user at the port for subscribers.
func TestRelayCertificateAtTheStreamPort(t *testing.T) {
	key := func(name string) []byte {
		t.Helper()
		text := fixture.Kubectl(t, cluster, "get", "secret", "graphview-peer-keys", "-n", peers.Namespace, "-o", `jsonpath={.data.tls\.`+name+`}`)
		pem, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return pem
	}
	pair, err := tls.X509KeyPair(key("crt"), key("key"))
	if err != nil {
		t.Fatal(err)
	}
	secured := fixture.TLS(t, rest.AnonymousClientConfig(cluster.Config()))
	secured.Certificates = []tls.Certificate{pair}
	transport := &http.Transport{TLSClientConfig: secured}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	for _, path := range []string{"/apis/stream.graphview.dev/v1alpha1/graphs", wire.Path + "/namespaces/shop/graphs/web"} {
		code, body, err := fixture.Get(t.Context(), client, edges[0].URL()+path)
		if err != nil || code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s %v, want 401", path, code, body, err)
		}
	}
}
