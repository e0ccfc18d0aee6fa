package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/stream/fleet/gateway"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// knock tries a handshake with a token, and returns the answer's code.
func knock(t *testing.T, h *testHub, link, tokenFile string) int {
	t.Helper()
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.tunnels.URL+hub.TunnelPath+link, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + string(token), tunnel.InstanceHeader: "stranger", tunnel.VersionHeader: "v1",
	} {
		request.Header.Set(name, value)
	}
	response, err := h.tunnels.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// TestIdentity: a member proves itself for its own link and for no other one. A handshake
// that is authenticated fails with 426, since the test asks for no WebSocket.
func TestIdentity(t *testing.T) {
	h := startHub(t)
	for i, link := range []string{"eu-1", "us-1"} {
		if err := h.Apply(hub.Link{Name: link, Identity: identityOf(t, memberPlanes[i])}); err != nil {
			t.Fatal(err)
		}
	}
	own, foreign, audience := tokenOf(t, memberPlanes[0], hubName), tokenOf(t, memberPlanes[1], hubName), tokenOf(t, memberPlanes[0], "other")
	for name, tt := range map[string]struct {
		link, token string
		want        int
	}{
		"its own link":      {"eu-1", own, http.StatusUpgradeRequired},
		"another link":      {"us-1", own, http.StatusUnauthorized},
		"another's token":   {"eu-1", foreign, http.StatusUnauthorized},
		"another audience":  {"eu-1", audience, http.StatusUnauthorized},
		"a link that isn't": {"ap-1", own, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			if code := knock(t, h, tt.link, tt.token); code != tt.want {
				t.Errorf("HTTP %d, want %d", code, tt.want)
			}
		})
	}
	status, _ := h.Status("eu-1")
	if status.Reason != hub.WrongSubject && status.Reason != hub.UnknownKey {
		t.Errorf("the link says %+v", status)
	}

	m := startMember(t, memberPlanes[0])
	m.dial(t, h, "eu-1")
	connected(t, h, "eu-1", 1)
	t.Run("a link that is suspended", func(t *testing.T) {
		if err := h.Apply(hub.Link{Name: "eu-1", Suspended: true, Identity: identityOf(t, memberPlanes[0])}); err != nil {
			t.Fatal(err)
		}
		if status, _ := h.Status("eu-1"); status.Tunnels != 0 || status.Reason != hub.Suspended {
			t.Errorf("%+v", status)
		}
		if code := knock(t, h, "eu-1", own); code != http.StatusForbidden {
			t.Errorf("HTTP %d", code)
		}
	})
	t.Run("two links with one identity", func(t *testing.T) {
		for _, name := range []string{"eu-1", "eu-2"} {
			if err := h.Apply(hub.Link{Name: name, Identity: identityOf(t, memberPlanes[0])}); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"eu-1", "eu-2"} {
			if status, _ := h.Status(name); !status.Ambiguous {
				t.Errorf("%s: %+v", name, status)
			}
			if code := knock(t, h, name, own); code != http.StatusUnauthorized {
				t.Errorf("%s: HTTP %d", name, code)
			}
		}
		h.Remove("eu-2")
		if code := knock(t, h, "eu-1", own); code != http.StatusUpgradeRequired {
			t.Errorf("HTTP %d", code)
		}
	})
}

// TestHostileUser: no header, group or path of a user changes which user the member sees.
func TestHostileUser(t *testing.T) {
	h := startHub(t)
	if err := h.Apply(hub.Link{Name: "eu-1", Identity: identityOf(t, memberPlanes[0])}); err != nil {
		t.Fatal(err)
	}
	m := startMember(t, memberPlanes[0])
	namespace := newNamespace(t, m.plane)
	m.view(t, namespace)
	createConfigMap(t, m.plane, namespace, "secret-name")
	m.dial(t, h, "eu-1")
	connected(t, h, "eu-1", 1)
	for _, who := range []string{"mallory", "bob"} {
		allowCluster(t, who, "eu-1")
	}
	// bob may open graphs, and list no ConfigMaps.
	allow(t, m.plane, rbacv1.UserKind, "hub:acme:bob", namespace, "pods")
	ask := func(who string, groups []string, header http.Header) (int, string) {
		t.Helper()
		client, url := h.client(t, who, groups...)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+pathOf("eu-1", namespace)+"/web", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(request.Header, header)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	bystander := h.watch(t, "bob", pathOf("eu-1", namespace)+"/web")
	fixture.Eventually(t, 20*time.Second, 20*time.Millisecond, func() string {
		if bystander.Connections() == 0 {
			return "the bystander is not connected"
		}
		return ""
	})
	for name, tt := range map[string]struct {
		who    string
		groups []string
		header http.Header
		want   int
	}{
		"no right in the member": {who: "mallory", want: http.StatusForbidden},
		"system:masters":         {who: "mallory", groups: []string{"system:masters"}, want: http.StatusForbidden},
		"the member's own user":  {who: "system:serviceaccount:default:graphview-manager", want: http.StatusForbidden},
		"front proxy's headers":  {who: "mallory", header: http.Header{"X-Remote-User": {"bob"}, "X-Remote-Group": {"system:masters"}}, want: http.StatusForbidden},
		"impersonation":          {who: "mallory", header: http.Header{"Impersonate-User": {"bob"}}, want: http.StatusForbidden},
		"headers of our own":     {who: "mallory", header: http.Header{"Graphview-User": {"bob"}, "Graphview-Relay": {"4"}}, want: http.StatusForbidden},
		"many groups":            {who: "bob", groups: many(400, "group"), want: http.StatusForbidden},
		"long groups":            {who: "bob", groups: many(400, strings.Repeat("g", 90)), want: http.StatusForbidden},
		"bob":                    {who: "bob", want: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := ask(tt.who, tt.groups, tt.header)
			if code != tt.want || strings.Contains(body, "secret-name") {
				t.Errorf("HTTP %d %s, want %d", code, body, tt.want)
			}
		})
	}

	t.Run("a long name", func(t *testing.T) {
		client, url := h.client(t, "mallory")
		code, _, err := fixture.Get(t.Context(), client, url+pathOf("eu-1", strings.Repeat("a", 33_000))+"/web")
		if err != nil || code == http.StatusOK || code == http.StatusServiceUnavailable {
			t.Errorf("HTTP %d, %v", code, err)
		}
	})
	if n := bystander.Connections(); n != 1 {
		t.Errorf("the bystander has had %d connections", n)
	}

	t.Run("a right that is taken away ends the stream", func(t *testing.T) {
		allowCluster(t, "carol", "eu-1")
		revoke := allow(t, m.plane, rbacv1.UserKind, "hub:acme:carol", namespace, "configmaps")
		client, url := h.client(t, "carol")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+watchOf(pathOf("eu-1", namespace)+"/web"), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		defer response.Body.Close()
		revoke()
		body, err := io.ReadAll(response.Body)
		if err != nil || !strings.Contains(string(body), `"Forbidden"`) {
			t.Errorf("%s, %v", body, err)
		}
	})
}

func many(n int, prefix string) []string {
	groups := make([]string, 0, n)
	for i := range n {
		groups = append(groups, fmt.Sprint(prefix, "-", i))
	}
	return groups
}

// TestHostileMember: what a member sends for its own graphs is refused or stripped, and a
// bystander's stream of another cluster goes on.
func TestHostileMember(t *testing.T) {
	h := startHub(t)
	for i, link := range []string{"evil", "good"} {
		if err := h.Apply(hub.Link{Name: link, Identity: identityOf(t, memberPlanes[i])}); err != nil {
			t.Fatal(err)
		}
		allowCluster(t, "alice", link)
	}
	good := startMember(t, memberPlanes[1])
	namespace := newNamespace(t, good.plane)
	selected := good.view(t, namespace)
	allow(t, good.plane, rbacv1.UserKind, "hub:acme:alice", namespace, "configmaps")
	good.dial(t, h, "good")
	connected(t, h, "good", 1)
	bystander := h.watch(t, "alice", pathOf("good", namespace)+"/web")
	equals(t, bystander, good, selected)

	evil := &testMember{plane: memberPlanes[0], run: "evil-run"}
	var answer atomic.Value // an http.HandlerFunc
	evil.gateway = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer.Load().(http.HandlerFunc)(w, r) })
	answers := func(f http.HandlerFunc) { answer.Store(f) }
	text := func(code int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	evil.dial(t, h, "evil")
	connected(t, h, "evil", 1)
	client, url := h.client(t, "alice")
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   int
	}{
		"a graph":           {text(200, "application/json", `{"actions":[],"rev":"r.1","synced":true}`), http.StatusOK},
		"a page":            {text(200, "text/html", "<script>alert(1)</script>"), http.StatusBadGateway},
		"your token is bad": {text(401, "application/json", `{"message":"send your password to evil.example.com"}`), http.StatusBadGateway},
		"a huge header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Large", strings.Repeat("a", 64<<10))
			w.WriteHeader(http.StatusOK)
		}, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			answers(tt.answer)
			code, body, err := fixture.Get(t.Context(), client, url+pathOf("evil", "shop")+"/web")
			if err != nil || code != tt.want || strings.Contains(string(body), "password") {
				t.Errorf("HTTP %d %s %v, want %d", code, body, err, tt.want)
			}
		})
	}
	allowConnections(t, "alice")
	for name, message := range map[string]string{
		"another channel":  `{"actions":[],"channel":1}`,
		"an answer":        `{"id":1,"channel":1}`,
		"no JSON":          `{"actions":[}`,
		"many objects":     `{"items":[` + strings.Repeat("{},", 100_000) + `{}]}{}`,
		"a line for ever":  strings.Repeat(" ", 9<<20),
		"an end that lies": `{"error":{"reason":"Unauthorized","message":"your token is bad"}}`,
	} {
		t.Run("on a connection for many graphs, "+name, func(t *testing.T) {
			answers(text(200, "application/json", message+"\n"))
			conn := h.connect(t, "alice", groupPath+"/watch/streams")
			for _, ask := range []string{
				fmt.Sprintf(`{"id":1,"subscribe":{"cluster":"good","namespace":%q,"name":"web"}}`, namespace),
				`{"id":2,"subscribe":{"cluster":"evil","namespace":"shop","name":"web"}}`,
			} {
				if err := conn.Write(t.Context(), websocket.MessageText, []byte(ask)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience.For(30*time.Second))
			defer cancel()
			var channel int64 // of the evil graph
			for {
				_, said, err := conn.Read(ctx)
				if err != nil {
					t.Fatal(err)
				}
				var m muxMessage
				if err := json.Unmarshal(said, &m); err != nil {
					t.Fatal(err)
				}
				if m.ID == 2 {
					channel = m.Channel
				}
				if m.Error == nil {
					continue
				}
				if m.Channel != channel || m.Error.Reason != "Internal" {
					t.Errorf("%s", said)
				}
				return
			}
		})
	}
	t.Run("a graph without end, to a user who does not read", func(t *testing.T) {
		answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			message := `{"actions":[{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"` + strings.Repeat("a", 32<<10) + `"}}}]}` + "\n"
			for err := error(nil); err == nil; {
				_, err = fmt.Fprint(w, message)
			}
		})
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+watchOf(pathOf("evil", "shop")+"/web"), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			response, err := client.Do(request)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatal(response, err)
			}
			defer response.Body.Close()
		}
		for i := range 5 {
			createConfigMap(t, good.plane, namespace, fmt.Sprint("meanwhile-", i))
			equals(t, bystander, good, selected)
		}
	})
	createConfigMap(t, good.plane, namespace, "afterwards")
	equals(t, bystander, good, selected)
	if n := bystander.Connections(); n != 1 {
		t.Errorf("the bystander has had %d connections", n)
	}
}

// tunnel has the member dial a hub that only accepts its tunnels, and returns the first of them.
func (m *testMember) tunnel(t *testing.T) *tunnel.Conn {
	t.Helper()
	conns := make(chan *tunnel.Conn, 2)
	h := &testHub{}
	h.serve(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := tunnel.Accept(w, r, tunnel.AcceptOptions{ID: "t", Lifetime: time.Hour})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		conns <- conn
		<-conn.Down()
	})
	m.dial(t, h, "eu-1")
	return <-conns
}

// TestHostileHub: a hub that asks for other paths or verbs, or names no user, is refused by the
// member, and learns nothing of a graph that its user may not see.
func TestHostileHub(t *testing.T) {
	m := startMember(t, memberPlanes[0])
	namespace := newNamespace(t, m.plane)
	m.view(t, namespace)
	createConfigMap(t, m.plane, namespace, "secret-name")
	conn := m.tunnel(t)
	ask := func(method, path string, header http.Header) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, "http://member"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = header
		response, err := conn.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	named := func(name string, groups ...string) http.Header {
		header := http.Header{}
		if err := gateway.SetUser(header, &user.DefaultInfo{Name: name, Groups: groups}); err != nil {
			t.Fatal(err)
		}
		return header
	}
	web := groupPath + "/namespaces/" + namespace + "/graphs/web"
	for _, path := range []string{"/", "/api/v1/secrets", "/metrics", "/graph", "/dashboard/", groupPath + "/clusters", groupPath + "/../../metrics"} {
		if code, body := ask(http.MethodGet, path, named("alice")); code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		if code, body := ask(method, web, named("alice")); code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d %s", method, code, body)
		}
	}
	for name, test := range map[string]struct {
		header http.Header
		want   int
	}{
		"nobody":           {http.Header{}, http.StatusUnauthorized},
		"two users":        {http.Header{"Graphview-User": {"eyJuYW1lIjoiYSJ9", "eyJuYW1lIjoiYiJ9"}}, http.StatusUnauthorized},
		"the front proxy":  {http.Header{"X-Remote-User": {"admin"}, "X-Remote-Group": {"system:masters"}}, http.StatusUnauthorized},
		"no right":         {named("alice", "system:masters"), http.StatusForbidden},
		"the own operator": {named("system:serviceaccount:default:graphview-manager"), http.StatusForbidden},
	} {
		for _, path := range []string{web, strings.TrimSuffix(web, "web") + "none", groupPath + "/graphs", web + "?impact=configmaps/" + namespace + "/secret-name"} {
			if code, body := ask(http.MethodGet, path, test.header); code != test.want || strings.Contains(body, "secret-name\"") {
				t.Errorf("%s, %s: %d %s", name, path, code, body)
			}
		}
	}
}

// TestGreedyHub: a hub that has as many streams open as it wants uses up its user's share, and the
// member serves others meanwhile.
func TestGreedyHub(t *testing.T) {
	m := startMember(t, memberPlanes[0])
	namespace := newNamespace(t, m.plane)
	m.view(t, namespace)
	createConfigMap(t, m.plane, namespace, "first")
	allow(t, m.plane, rbacv1.UserKind, "alice", namespace, "configmaps")
	allow(t, m.plane, rbacv1.UserKind, "hub:acme:mallory", namespace, "configmaps")
	conn := m.tunnel(t)
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	header := http.Header{}
	if err := gateway.SetUser(header, &user.DefaultInfo{Name: "mallory"}); err != nil {
		t.Fatal(err)
	}
	var served, refused atomic.Int64
	const streams = 2_000
	for range streams {
		asking.Go(func() {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://member"+groupPath+"/watch/namespaces/"+namespace+"/graphs/web", http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			request.Header = header
			response, err := conn.RoundTrip(request)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err) // it is counted nowhere
				}
				return
			}
			defer response.Body.Close()
			switch response.StatusCode {
			case http.StatusOK:
				served.Add(1)
				<-ctx.Done()
			case http.StatusTooManyRequests:
				refused.Add(1)
			default:
				t.Error(response.Status)
			}
		})
	}
	fixture.Eventually(t, 60*time.Second, 20*time.Millisecond, func() string {
		if s, r := served.Load(), refused.Load(); s < 1_000 || r == 0 || s+r < streams {
			return fmt.Sprint(s, " streams, ", r, " refused")
		}
		return ""
	})
	config := m.plane.ClientConfig("alice")
	config.TLSClientConfig.CAData = m.authority
	fixture.Eventually(t, 60*time.Second, 100*time.Millisecond, func() string {
		code, body, err := fixture.Get(t.Context(), fixture.HTTP1(t, config), fmt.Sprintf("https://%s%s/namespaces/%s/graphs/web", m.server.Addr(), groupPath, namespace))
		if err != nil || code != http.StatusOK || !strings.Contains(string(body), `"n":"first"`) {
			return fmt.Sprint(code, string(body), err)
		}
		return ""
	})
}
