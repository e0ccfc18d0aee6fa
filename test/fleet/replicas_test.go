package fleet

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/replicas"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// membership has the replicas of a hub.
type membership struct {
	mu      sync.Mutex
	live    []replicas.Member
	changed chan struct{}
	logger  logr.Logger // of the hub; the zero value: that of the test
}

// Live implements hub.Replicas.
func (m *membership) Live() []replicas.Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live
}

// Changed implements hub.Replicas.
func (m *membership) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

func (m *membership) change(next func([]replicas.Member) []replicas.Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live = next(slices.Clone(m.live))
	close(m.changed)
	m.changed = make(chan struct{})
}

// start starts a replica of a hub, which has some links. leave ends it.
func (m *membership) start(t testing.TB, name string, links ...hub.Link) (h *testHub, leave func()) {
	t.Helper()
	peers := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.running.Load().PeerHandler().ServeHTTP(w, r) }))
	t.Cleanup(peers.Close)
	h = startHubWith(t, hub.Options{Run: name, Replicas: m, Peers: peers.Client().Transport, Logger: m.logger})
	for _, link := range links {
		if err := h.Apply(link); err != nil {
			t.Fatal(err)
		}
	}
	stop := fixture.Start(t, h.Run)
	self := replicas.Member{Name: name, Run: name, Address: strings.TrimPrefix(peers.URL, "https://")}
	m.change(func(live []replicas.Member) []replicas.Member { return append(live, self) })
	return h, func() {
		m.change(func(live []replicas.Member) []replicas.Member {
			return slices.DeleteFunc(live, func(other replicas.Member) bool { return other == self })
		})
		stop()
		h.Close()
	}
}

// startShown starts a member with a view of a namespace, which alice may see at the hub of its link.
func startShown(t *testing.T) (m *testMember, is hub.Link, namespace string, view oracle.View) {
	t.Helper()
	is = hub.Link{Name: "eu-1", Identity: identityOf(t, memberPlanes[0])}
	m = startMember(t, memberPlanes[0])
	namespace = newNamespace(t, m.plane)
	view = m.view(t, namespace)
	createConfigMap(t, m.plane, namespace, "first")
	allowCluster(t, "alice", is.Name)
	allow(t, m.plane, rbacv1.UserKind, "hub:acme:alice", namespace, "configmaps")
	return m, is, namespace, view
}

// TestHubReplicas: a member has tunnels to all replicas of its hub although it reaches only one of
// them, and users of each replica see its graph: while replicas leave and join as well.
func TestHubReplicas(t *testing.T) {
	m, is, namespace, view := startShown(t)
	link := is.Name
	all := &membership{changed: make(chan struct{})}
	reached, _ := all.start(t, "a", is)
	second, _ := all.start(t, "b", is)
	third, leave := all.start(t, "c", is)
	m.dial(t, reached, link)
	var following []*subscriber.Subscriber
	for _, h := range []*testHub{reached, second, third} {
		connected(t, h, link, 1)
		s := h.watch(t, "alice", pathOf(link, namespace)+"/web")
		equals(t, s, m, view)
		following = append(following, s)
	}

	leave()
	createConfigMap(t, m.plane, namespace, "while-there-are-two")
	for _, s := range following[:2] {
		equals(t, s, m, view)
	}
	fourth, _ := all.start(t, "d", is)
	connected(t, fourth, link, 1)
	createConfigMap(t, m.plane, namespace, "while-there-are-three-again")
	equals(t, fourth.watch(t, "alice", pathOf(link, namespace)+"/web"), m, view)
	for i, s := range following[:2] {
		equals(t, s, m, view)
		if n := s.Resets(); n > 1 {
			t.Errorf("the subscriber of replica %d was reset: %d resets", i, n)
		}
	}
	for _, h := range []*testHub{reached, second, fourth} {
		connected(t, h, link, 1)
	}
}

// TestTunnelLasts: a tunnel is no unauthenticated connection, which would soon be closed.
func TestTunnelLasts(t *testing.T) {
	h := startHub(t)
	if err := h.Apply(hub.Link{Name: "eu-1", Identity: identityOf(t, memberPlanes[0])}); err != nil {
		t.Fatal(err)
	}
	handshakes := make(chan *http.Request, 1)
	handler := h.tunnels.Config.Handler
	h.tunnels.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handshakes <- r
		handler.ServeHTTP(w, r)
	})
	m := startMember(t, memberPlanes[0])
	m.dial(t, h, "eu-1")
	connected(t, h, "eu-1", 1)
	if r := <-handshakes; admission.Unauthenticated(r.Context()) {
		t.Error("nobody has been authenticated on the connection of a tunnel")
	}
}
