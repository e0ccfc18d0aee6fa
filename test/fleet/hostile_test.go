package fleet

import (
	"context"
	"encoding/json"
	"errors"
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

	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
	"graphview.dev/test/fixture"
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
		"many groups":            {who: "bob", groups: many(400), want: http.StatusForbidden},
		"bob":                    {who: "bob", want: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := ask(tt.who, tt.groups, tt.header)
			if code != tt.want || strings.Contains(body, "secret-name") {
				t.Errorf("HTTP %d %s, want %d", code, body, tt.want)
			}
		})
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

func many(n int) []string {
	groups := make([]string, 0, n)
	for i := range n {
		groups = append(groups, fmt.Sprint("group-", i))
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
	var listing, frame string
	var endless bool
	evil.gateway = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/list") {
			fmt.Fprint(w, listing)
			return
		}
		out := wire.AppendControl(nil, wire.Hello, 0, wire.Greeting{Run: evil.run, Version: wire.Versions})
		out = wire.AppendControl(out, wire.Hold, 0, wire.Held{Synced: true})
		_, _ = w.Write(out)
		_ = http.NewResponseController(w).Flush()
		opened, err := wire.NewReader(r.Body).Next()
		if err != nil {
			return
		}
		f := &delivery.Frame{JSON: []byte(frame)}
		_, err = w.Write(append(wire.AppendFrame(nil, opened.Channel, f, false, time.Now()), f.JSON...))
		for endless && err == nil {
			_, err = w.Write(append(wire.AppendFrame(nil, opened.Channel, f, false, time.Now()), f.JSON...))
		}
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(io.Discard, r.Body)
	})
	evil.dial(t, h, "evil")
	connected(t, h, "evil", 1)
	client, url := h.client(t, "alice")
	const one = `{"items":[{"namespace":"shop","name":"web","uid":"u","synced":true}]}`
	const whole = `{"actions":[],"rev":"r.1","synced":true}`
	for name, tt := range map[string]struct {
		listing, frame string
		want           int
		body           string
	}{
		"a graph":                    {one, whole, http.StatusOK, `"rev":"r.1"`},
		"members of a mux":           {one, `{"channel":"other","error":{"code":1008},"actions":[],"rev":"r.1","synced":true}`, http.StatusOK, `"rev":"r.1"`},
		"line breaks":                {one, "{\"actions\":[],\n\"rev\":\"r.1\",\"synced\":true}", http.StatusServiceUnavailable, "lost"},
		"a revision with line break": {one, `{"actions":[],"rev":"r\n1","synced":true}`, http.StatusServiceUnavailable, "lost"},
		"no JSON":                    {one, `{"actions":[}`, http.StatusServiceUnavailable, "lost"},
		"another view":               {`{"items":[{"namespace":"shop","name":"other","uid":"u"}]}`, whole, http.StatusNotFound, ""},
		"a view of another name":     {`{"items":[{"namespace":"shop","name":"web","uid":"u"},{"namespace":"shop","name":"web","uid":"v"}]}`, whole, http.StatusNotFound, ""},
		"no list":                    {`<html>`, whole, http.StatusInternalServerError, "does not answer with graphs"},
		"a huge list":                {strings.Repeat(" ", 9<<20), whole, http.StatusInternalServerError, "does not answer with graphs"},
		"your token is bad":          {`{"ended":{"reason":"Unauthorized","message":"send your password to evil.example.com"}}`, whole, http.StatusInternalServerError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			connected(t, h, "evil", 1)
			listing, frame = tt.listing, tt.frame
			code, body, err := fixture.Get(t.Context(), client, url+pathOf("evil", "shop")+"/web")
			if err != nil || code != tt.want || !strings.Contains(string(body), tt.body) || strings.Contains(string(body), "channel") {
				t.Errorf("HTTP %d %s %v, want %d %s", code, body, err, tt.want, tt.body)
			}
		})
	}
	t.Run("a graph without end, to a user who does not read", func(t *testing.T) {
		connected(t, h, "evil", 1)
		listing, frame, endless = one, `{"actions":[{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"`+strings.Repeat("a", 32<<10)+`"}}}]}`, true
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
		conn, err := tunnel.Accept(w, r, "t", time.Hour)
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

// TestHostileHub: a hub that sends answers, asks for other paths or verbs, or names no user is
// refused by the member.
func TestHostileHub(t *testing.T) {
	m := startMember(t, memberPlanes[0])
	namespace := newNamespace(t, m.plane)
	m.view(t, namespace)
	createConfigMap(t, m.plane, namespace, "secret-name")
	web := graphview.Name{Namespace: namespace, Name: "web"}
	fixture.Eventually(t, 30*time.Second, 20*time.Millisecond, func() string {
		if status, _ := m.engine.Status(web); !status.Synced {
			return "the view has not synced"
		}
		return ""
	})
	conn := m.tunnel(t)
	post := func(path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://member"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
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
	for _, path := range []string{"/", "/api/v1/secrets", "/metrics", "/relay/routes", "/relay/list/..", groupPath + "/graphs", "/dashboard/"} {
		if code, body := post(path, "{}"); code == http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for name, user := range map[string]wire.User{
		"nobody": {Verb: "list"}, "another verb": {Name: "alice", Verb: "create"}, "no right": {Name: "alice", Groups: []string{"system:masters"}, Verb: "list"},
	} {
		body, err := json.Marshal(wire.Listing{User: user})
		if err != nil {
			t.Fatal(err)
		}
		if _, text := post("/relay/list", string(body)); !strings.Contains(text, `"Forbidden"`) || strings.Contains(text, "items") {
			t.Errorf("%s: %s", name, text)
		}
	}
	client := edge.NewClient(t.Context(), edge.Options{Reach: func(replicas.Member) http.RoundTripper { return conn }})
	defer client.Close()
	for name, who := range map[string]delivery.Access{
		"answers": everything{}, "a user without the right": edge.As{User: wire.User{Name: "alice", Groups: []string{"system:masters"}, Verb: "watch"}},
	} {
		t.Run(name, func(t *testing.T) {
			relay, err := client.Open(t.Context(), replicas.Member{Name: "t", Run: m.run, Address: "member"}, web, false)
			if err != nil {
				t.Fatal(err)
			}
			s := relay.Subscribe(delivery.SubscribeOptions{Access: who})
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			frames, err := s.Next(ctx)
			if len(frames) > 0 || err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d frames, %v", len(frames), err)
			}
			if relay.Synced() {
				t.Error("the hub learns that the view exists")
			}
		})
	}
}

// TestGreedyHub: a hub that asks for more at once than a tunnel takes waits, and the member serves its own
// users meanwhile.
func TestGreedyHub(t *testing.T) {
	m := startMember(t, memberPlanes[0])
	namespace := newNamespace(t, m.plane)
	m.view(t, namespace)
	createConfigMap(t, m.plane, namespace, "first")
	allow(t, m.plane, rbacv1.UserKind, "alice", namespace, "configmaps")
	conn := m.tunnel(t)
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	var answered atomic.Int64
	for range 10_000 {
		asking.Go(func() {
			body, _ := io.Pipe() // which never ends
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://member/relay/namespaces/"+namespace+"/graphs/web", body)
			if err != nil {
				t.Error(err)
				return
			}
			if response, err := conn.RoundTrip(request); err == nil {
				answered.Add(1)
				defer response.Body.Close()
				<-ctx.Done()
			}
		})
	}
	fixture.Eventually(t, 60*time.Second, 20*time.Millisecond, func() string {
		if n := answered.Load(); n < 512 {
			return fmt.Sprint(n, " relays")
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

// everything is the access of a hub that answers for the member.
type everything struct{}

func (everything) Rights() delivery.Rights                       { return everything{} }
func (everything) Changed() <-chan struct{}                      { return nil }
func (everything) Resolve(context.Context, []access.Place) error { return nil }
func (everything) Allowed(access.Place) (allowed, known bool)    { return true, true }
func (everything) Digest() string                                { return "everything" }
