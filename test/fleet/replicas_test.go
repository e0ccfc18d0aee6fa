package fleet

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// membership has the replicas of a hub, and a load balancer for members.
type membership struct {
	mu       sync.Mutex
	live     []*testHub
	changed  chan struct{}
	logger   logr.Logger // of the hub; the zero value: that of the test
	balancer net.Listener
}

func newMembership(t testing.TB) *membership {
	t.Helper()
	m := &membership{changed: make(chan struct{})}
	var err error
	if m.balancer, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		balance(m.balancer, m.addresses)
	}()
	t.Cleanup(func() {
		_ = m.balancer.Close()
		<-done
	})
	return m
}

// Count implements hub.Replicas.
func (m *membership) Count() int { return max(1, len(m.addresses())) }

// Changed implements hub.Replicas.
func (m *membership) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// addresses are those at which the replicas accept tunnels.
func (m *membership) addresses() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.live {
		all = append(all, h.tunnels.Listener.Addr().String())
	}
	return all
}

func (m *membership) change(next func([]*testHub) []*testHub) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live = next(slices.Clone(m.live))
	close(m.changed)
	m.changed = make(chan struct{})
}

// start starts a replica of a hub, which has some links. leave ends it.
func (m *membership) start(t testing.TB, _ string, links ...hub.Link) (h *testHub, leave func()) {
	t.Helper()
	h = startHubWith(t, hub.Options{Replicas: m, Logger: m.logger})
	for _, link := range links {
		if err := h.Apply(link); err != nil {
			t.Fatal(err)
		}
	}
	stop := fixture.Start(t, h.Run)
	m.change(func(live []*testHub) []*testHub { return append(live, h) })
	return h, func() {
		m.change(func(live []*testHub) []*testHub {
			return slices.DeleteFunc(live, func(other *testHub) bool { return other == h })
		})
		stop()
		h.Close()
	}
}

// balance is a load balancer, which leads each connection to any of some addresses that accepts it. It
// returns when the listener is closed and all connections have ended.
func balance(balancer net.Listener, to func() []string) {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		near, err := balancer.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(time.Second)
			continue
		}
		running.Go(func() {
			defer near.Close()
			addresses := to()
			for _, i := range rand.Perm(len(addresses)) {
				far, err := net.Dial("tcp", addresses[i])
				if err != nil {
					continue
				}
				running.Go(func() {
					forward(far, near)
					_ = far.Close()
				})
				forward(near, far)
				_ = far.Close()
				return
			}
		})
	}
}

// forward copies until one of two connections ends, without the pipes of the system's own copies, which
// are four files for each connection.
func forward(to io.Writer, from io.Reader) {
	_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
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

// TestHubReplicas: a member dials through a load balancer until it has tunnels to all replicas of its
// hub, and users of each replica see its graph: while replicas leave and join as well.
func TestHubReplicas(t *testing.T) {
	m, is, namespace, view := startShown(t)
	link := is.Name
	all := newMembership(t)
	first, _ := all.start(t, "a", is)
	second, _ := all.start(t, "b", is)
	third, leave := all.start(t, "c", is)
	m.dialAt(t, all.balancer.Addr().String(), first, link)
	var following []*subscriber.Subscriber
	for _, h := range []*testHub{first, second, third} {
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
	for _, h := range []*testHub{first, second, fourth} {
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
