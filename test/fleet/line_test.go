package fleet

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/stream/fleet/hub"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// connected waits until a link has a number of tunnels. Where chance leads the dialers, that takes some attempts.
func connected(t testing.TB, h *testHub, link string, tunnels int) {
	t.Helper()
	fixture.Eventually(t, 90*time.Second, 20*time.Millisecond, func() string {
		if status, _ := h.Status(link); status.Tunnels != tunnels {
			return string(status.Reason) + " " + status.Message
		}
		return ""
	})
}

// watch follows a graph as a user of the hub, and reconnects as clients do.
func (h *testHub) watch(t *testing.T, who, path string) *subscriber.Subscriber {
	t.Helper()
	client, url := h.client(t, who)
	s := subscriber.New()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Persist(ctx, func(ctx context.Context, since string) (subscriber.Stream, error) {
			address := url + watchOf(path)
			if since != "" {
				address += "?since=" + since
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
			if err != nil {
				return nil, err
			}
			next, err := subscriber.Response(client, request)
			if err != nil {
				t.Log(path, err)
			}
			return next, err
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

// equals waits until a subscriber has the graph that fresh lists of the member give.
func equals(t *testing.T, s *subscriber.Subscriber, m *testMember, view oracle.View) {
	t.Helper()
	// A tunnel that is frozen is given up after 25 s.
	fixture.Eventually(t, 90*time.Second, 50*time.Millisecond, func() string {
		want, err := oracle.Build(t.Context(), m.plane.Config(), view)
		if err != nil {
			t.Fatal(err)
		}
		if differs := s.Differs(want); differs != "" {
			return fmt.Sprintf("%s; told %v", differs, s.Told())
		}
		return ""
	})
}

// TestFleet: a user of the hub follows the live graphs of two members that dial, sees what
// the user's rights in the member show, and waits while a member is away.
func TestFleet(t *testing.T) {
	h := startHub(t)
	links := [2]string{"eu-1", "us-1"}
	var members [2]*testMember
	var namespaces [2]string
	var views [2]oracle.View
	for i, link := range links {
		if err := h.Apply(hub.Link{Name: link, DisplayName: []string{"Europe 1", "United States 1"}[i], Identity: identityOf(t, memberPlanes[i])}); err != nil {
			t.Fatal(err)
		}
		members[i] = startMember(t, memberPlanes[i])
		namespaces[i] = newNamespace(t, memberPlanes[i])
		views[i] = members[i].view(t, namespaces[i])
		createConfigMap(t, memberPlanes[i], namespaces[i], "first")
		allowCluster(t, "alice", link)
		allow(t, memberPlanes[i], rbacv1.UserKind, "hub:acme:alice", namespaces[i], "configmaps")
	}
	stop := members[0].dial(t, h, links[0])
	members[1].dial(t, h, links[1])
	connected(t, h, links[0], 1)
	connected(t, h, links[1], 1)
	var following [2]*subscriber.Subscriber
	for i, link := range links {
		following[i] = h.watch(t, "alice", pathOf(link, namespaces[i])+"/web")
		equals(t, following[i], members[i], views[i])
		createConfigMap(t, memberPlanes[i], namespaces[i], "second")
		equals(t, following[i], members[i], views[i])
	}
	client, url := h.client(t, "alice")
	get := func(path string) (int, string) {
		t.Helper()
		code, body, err := fixture.Get(t.Context(), client, url+path)
		if err != nil {
			t.Fatal(err)
		}
		return code, string(body)
	}

	t.Run("list, get, export and one object", func(t *testing.T) {
		path := pathOf(links[0], namespaces[0])
		for ask, want := range map[string]string{
			path:                         `"name":"web","namespace":"` + namespaces[0] + `","uid":"uid-` + namespaces[0],
			path + "/web":                `"n":"second"`,
			path + "/web?format=dot":     "second",
			path + "/web?format=mermaid": "second",
			path + "/web/object?version=v1&resource=configmaps&namespace=" + namespaces[0] + "&name=first": `"kind":"GraphObject"`,
			groupPath + "/clusters/" + links[0] + "/proxy" + groupPath:                                     `"graphs"`,
		} {
			if code, body := get(ask); code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %d %s, want %s", ask, code, body, want)
			}
		}
	})

	t.Run("refusals", func(t *testing.T) {
		for ask, want := range map[string]int{
			pathOf(links[0], namespaces[0]) + "/other":                                                               http.StatusNotFound,
			pathOf(links[0], "kube-system"):                                                                          http.StatusForbidden,
			pathOf(links[0], namespaces[0]) + "/web?format=graphml":                                                  http.StatusNotAcceptable,
			pathOf(links[0], namespaces[1]) + "/web":                                                                 http.StatusForbidden,
			pathOf("ap-1", namespaces[0]):                                                                            http.StatusForbidden,
			groupPath + "/clusters/" + links[0] + "/proxy" + "/../../us-1/proxy" + groupPath + "/graphs":             http.StatusBadRequest,
			groupPath + "/clusters/" + links[0] + "/proxy/%2e%2e" + groupPath + "/graphs":                            http.StatusBadRequest,
			groupPath + "/clusters/" + links[0] + "/proxy" + strings.TrimSuffix(pathOf(links[1], namespaces[1]), ""): http.StatusBadRequest,
			groupPath + "/clusters/" + links[0] + "/proxy/api/v1/secrets":                                            http.StatusNotFound,
		} {
			if code, body := get(ask); code != want {
				t.Errorf("%s: %d %s, want %d", ask, code, body, want)
			}
		}
	})

	t.Run("the clusters of the fleet", func(t *testing.T) {
		if code, body := get(groupPath + "/clusters"); code != http.StatusForbidden {
			t.Errorf("a user who may not list clusters: %d %s", code, body)
		}
		allowClusters(t, "alice")
		fixture.Eventually(t, 20*time.Second, 100*time.Millisecond, func() string {
			code, body := get(groupPath + "/clusters")
			if code != http.StatusOK || strings.Count(body, `"connected":true,"since":"20`) != 2 || !strings.Contains(body, `"name":"eu-1"},"displayName":"Europe 1"`) {
				return fmt.Sprint(code, " ", body)
			}
			return ""
		})
		// A right in one namespace is none to clusters.
		if code, body := get(groupPath + "/namespaces/default/clusters"); code != http.StatusNotFound {
			t.Errorf("below a namespace: %d %s", code, body)
		}
	})

	t.Run("a lost tunnel", func(t *testing.T) {
		resets := following[0].Resets()
		stop()
		connected(t, h, links[0], 0)
		if status, _ := h.Status(links[0]); status.Reason != hub.Lost {
			t.Errorf("the link is %+v", status)
		}
		createConfigMap(t, memberPlanes[0], namespaces[0], "while-away")
		createConfigMap(t, memberPlanes[1], namespaces[1], "while-the-other-is-away")
		equals(t, following[1], members[1], views[1])
		if code, body := get(pathOf(links[0], namespaces[0]) + "/web?timeout=100ms"); code != http.StatusServiceUnavailable || !strings.Contains(body, "not connected") {
			t.Errorf("%d %s", code, body)
		}
		members[0].dial(t, h, links[0])
		equals(t, following[0], members[0], views[0])
		if n := following[0].Resets(); n != resets {
			t.Errorf("%d resets", n-resets)
		}
	})
}
