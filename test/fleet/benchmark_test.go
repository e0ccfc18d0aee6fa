package fleet

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/stream/fleet/hub"
	"graphview.dev/test/fixture"
	"graphview.dev/test/subscriber"
)

// BenchmarkHub measures how much later a subscriber of the hub has a change than a subscriber of the
// member, from whose server both have it: the time that the hub, the tunnel and the gateway add.
func BenchmarkHub(b *testing.B) {
	added := changesOf(b, startHub(b), 0)
	b.ReportMetric(float64(added[len(added)/2].Microseconds()), "µs-added-p50")
	b.ReportMetric(float64(added[len(added)*99/100].Microseconds()), "µs-added-p99")
}

// changesOf connects a member to a hub, and returns the times that the hub adds to some changes, sorted; to as
// many as b wants for 0.
func changesOf(b *testing.B, h *testHub, changes int) (added []time.Duration) {
	b.Helper()
	if err := h.Apply(hub.Link{Name: "eu-1", Identity: identityOf(b, memberPlanes[0])}); err != nil {
		b.Fatal(err)
	}
	m := startMember(b, memberPlanes[0])
	namespace := newNamespace(b, m.plane)
	m.view(b, namespace)
	allowCluster(b, "alice", "eu-1")
	for _, who := range []string{"alice", "hub:acme:alice"} {
		allow(b, m.plane, rbacv1.UserKind, who, namespace, "configmaps")
	}
	m.dial(b, h, "eu-1")
	connected(b, h, "eu-1", 1)

	config := m.plane.ClientConfig("alice")
	config.TLSClientConfig.CAData = m.authority
	near := follow(b, fixture.HTTP1(b, config), fmt.Sprintf("https://%s%s/watch/namespaces/%s/graphs/web", m.server.Addr(), groupPath, namespace))
	client, url := h.client(b, "alice")
	far := follow(b, client, url+watchOf(pathOf("eu-1", namespace)+"/web"))
	change := func() {
		name := fmt.Sprint("change-", len(added))
		createConfigMap(b, m.plane, namespace, name)
		at := [2]time.Time{near(name), far(name)}
		added = append(added, at[1].Sub(at[0]))
	}
	for range changes {
		change()
	}
	for changes == 0 && b.Loop() {
		change()
	}
	slices.Sort(added)
	return added
}

// follow returns a function that waits until a stream has named an object, and returns when it did.
func follow(b *testing.B, client *http.Client, url string) func(name string) time.Time {
	b.Helper()
	var next subscriber.Stream
	fixture.Eventually(b, 20*time.Second, 100*time.Millisecond, func() string {
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		if next, err = subscriber.Response(client, request); err != nil {
			return err.Error()
		}
		return ""
	})
	type message struct {
		text []byte
		at   time.Time
	}
	read := make(chan message, 1024)
	go func() { // until the stream ends with b
		defer close(read)
		for {
			text, err := next()
			if err != nil {
				return
			}
			read <- message{text, time.Now()}
		}
	}()
	return func(name string) time.Time {
		for m := range read {
			if bytes.Contains(m.text, []byte(`"`+name+`"`)) {
				return m.at
			}
		}
		b.Fatal("the stream has ended")
		return time.Time{}
	}
}
