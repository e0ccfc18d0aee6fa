package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/stream/fleet/hub"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// muxMessage is what a connection for many graphs says of a channel, or answers.
type muxMessage struct {
	ID      int64             `json:"id"`
	Channel int64             `json:"channel"`
	Actions []json.RawMessage `json:"actions"`
	Error   *struct {
		Reason string `json:"reason"`
	} `json:"error"`
}

// connect opens a connection for many graphs at a path below the hub's URL.
func (h *testHub) connect(t *testing.T, who, path string) *websocket.Conn {
	t.Helper()
	client, url := h.client(t, who)
	var conn *websocket.Conn
	fixture.Eventually(t, 20*time.Second, 100*time.Millisecond, func() (failure string) {
		var err error
		conn, _, err = websocket.Dial(t.Context(), url+path, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"graphview.mux.v1"}})
		if err != nil {
			return err.Error()
		}
		return ""
	})
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// TestMux: one connection has graphs of several clusters. A user needs the right to each of them, and
// a cluster that is not connected delays no other one.
func TestMux(t *testing.T) {
	h := startHub(t)
	links := [2]string{"eu-1", "us-1"}
	var namespaces [2]string
	for i, link := range links {
		if err := h.Apply(hub.Link{Name: link, Identity: identityOf(t, memberPlanes[i])}); err != nil {
			t.Fatal(err)
		}
		m := startMember(t, memberPlanes[i])
		namespaces[i] = newNamespace(t, memberPlanes[i])
		m.view(t, namespaces[i])
		createConfigMap(t, memberPlanes[i], namespaces[i], "first")
		allow(t, memberPlanes[i], rbacv1.UserKind, "hub:acme:carol", namespaces[i], "configmaps")
		allowCluster(t, "carol", link)
		m.dial(t, h, link)
		connected(t, h, link, 1)
	}
	if err := h.Apply(hub.Link{Name: "away", Identity: identityOf(t, hubPlane)}); err != nil {
		t.Fatal(err)
	}
	allowCluster(t, "carol", "away")
	allowConnections(t, "carol")

	ask := func(conn *websocket.Conn, what string) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(what)); err != nil {
			t.Fatal(err)
		}
	}
	next := func(conn *websocket.Conn) (m muxMessage) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience.For(20*time.Second))
		defer cancel()
		for m.ID == 0 && m.Channel == 0 { // heartbeats
			_, text, err := conn.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	// refused asks for a graph that is refused, and returns the reason.
	refused := func(conn *websocket.Conn, what string) string {
		t.Helper()
		ask(conn, what)
		for {
			if m := next(conn); m.ID == 9 {
				if m.Error == nil {
					t.Fatalf("%s is served", what)
				}
				return m.Error.Reason
			}
		}
	}

	conn := h.connect(t, "carol", groupPath+"/watch/streams")
	ask(conn, fmt.Sprintf(`{"id":1,"subscribe":{"cluster":"away","namespace":%q,"name":"web"}}`, namespaces[0]))
	for i, link := range links {
		ask(conn, fmt.Sprintf(`{"id":%d,"subscribe":{"cluster":%q,"namespace":%q,"name":"web"}}`, 2+i, link, namespaces[i]))
	}
	channels, complete := map[int64]int64{}, map[int64]bool{}
	for len(complete) < 2 {
		switch m := next(conn); {
		case m.Error != nil:
			t.Fatalf("%+v", m)
		case m.ID != 0:
			channels[m.Channel] = m.ID
		case len(m.Actions) > 0:
			complete[channels[m.Channel]] = true
		}
	}
	for what, want := range map[string]string{
		`{"id":9,"subscribe":{"cluster":"ap-1","namespace":"shop","name":"web"}}`:                            "Forbidden",
		`{"id":9,"subscribe":{"cluster":"eu-1","namespace":"kube-system","name":"web"}}`:                     "Forbidden",
		fmt.Sprintf(`{"id":9,"subscribe":{"cluster":"eu-1","namespace":%q,"name":"none"}}`, namespaces[0]):   "NotFound",
		`{"id":9,"subscribe":{"cluster":"eu-1","request":{"queries":[]}}}`:                                   "Malformed",
		fmt.Sprintf(`{"id":9,"subscribe":{"cluster":"../us-1","namespace":%q,"name":"web"}}`, namespaces[1]): "Malformed",
		`{"id":9,"subscribe":{"cluster":"eu-1","namespace":"shop/graphs/web","name":"a"}}`:                   "Malformed",
	} {
		if got := refused(conn, what); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}

	// Below the path of a cluster, graphs are those of the cluster.
	within := h.connect(t, "carol", groupPath+"/clusters/"+links[0]+"/proxy"+groupPath+"/watch/streams")
	ask(within, fmt.Sprintf(`{"id":1,"subscribe":{"namespace":%q,"name":"web"}}`, namespaces[0]))
	if m := next(within); m.Error != nil {
		t.Errorf("below the path of the cluster: %+v", m.Error)
	}
	for what, want := range map[string]string{
		fmt.Sprintf(`{"id":9,"subscribe":{"cluster":"us-1","namespace":%q,"name":"web"}}`, namespaces[1]): "NotFound",
		`{"id":9,"subscribe":{"spec":{"queries":[]}}}`:                                                    "Malformed",
	} {
		if got := refused(within, what); got != want {
			t.Errorf("below the path of the cluster, %s: %s, want %s", what, got, want)
		}
	}
}
