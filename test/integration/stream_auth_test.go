package integration

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/test/fixture"
)

// TestStreamAccess opens a graph with every kind of credential that Kubernetes knows, directly
// and through the API server.
func TestStreamAccess(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	server := startStream(t, c, newFixedGraph(namespace))
	aggregate(t, server)

	rules := map[string]rbacv1.PolicyRule{
		"graphs": {APIGroups: []string{"stream.graphview.dev"}, Resources: []string{"graphs"}, Verbs: []string{"get", "list", "watch"}},
		"one-graph": {
			APIGroups: []string{"stream.graphview.dev"}, Resources: []string{"graphs"}, ResourceNames: []string{"web"}, Verbs: []string{"watch"},
		},
	}
	for role, rule := range rules {
		create(t, c, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: role, Namespace: namespace}, Rules: []rbacv1.PolicyRule{rule}})
	}
	bind := func(role string, subject rbacv1.Subject) {
		t.Helper()
		create(t, c, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role + "-" + strings.ToLower(subject.Kind) + "-" + subject.Name, Namespace: namespace},
			Subjects:   []rbacv1.Subject{subject},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		})
		fixture.Authorized(t, c, []rbacv1.Subject{subject}, namespace, rules[role])
	}
	user := func(name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
	}
	bind("graphs", user("reader"))
	bind("one-graph", user("watcher"))
	bind("graphs", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "reader"})
	account := func(name string) *rest.Config {
		t.Helper()
		if err := cluster.CreateServiceAccount(t.Context(), namespace, name); err != nil {
			t.Fatal(err)
		}
		config, err := cluster.ServiceAccountConfig(t.Context(), namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		return config
	}
	readerToken, strangerToken := account("reader"), account("stranger")
	nobody := rest.AnonymousClientConfig(cluster.Config())
	wrong := rest.CopyConfig(nobody)
	wrong.BearerToken = "not-a-token"

	identities := map[string]struct {
		config           *rest.Config
		get, list, watch int
		discover         int
	}{
		"reader's certificate":   {cluster.ClientConfig("reader"), 200, 200, 200, 200},
		"reader's token":         {readerToken, 200, 200, 200, 200},
		"watcher's certificate":  {cluster.ClientConfig("watcher"), 403, 403, 200, 200},
		"stranger's certificate": {cluster.ClientConfig("stranger"), 403, 403, 403, 200},
		"stranger's token":       {strangerToken, 403, 403, 403, 200},
		"wrong token":            {wrong, 401, 401, 401, 401},
		"nothing":                {nobody, 401, 401, 401, 401},
	}
	base := "/apis/stream.graphview.dev/v1alpha1"
	collection := base + "/namespaces/" + namespace + "/graphs"
	watch := base + "/watch/namespaces/" + namespace + "/graphs/web"
	events := http.Header{"Accept": {"text/event-stream"}}
	for name, identity := range identities {
		for where, r := range map[string]road{
			"own port": ownPort(t, server, identity.config), "aggregated": throughAPIServer(t, identity.config),
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				if where == "aggregated" && name == "nothing" {
					// The API server may refuse system:anonymous.
					if code, body := r.get(t, collection, nil); code != 401 && code != 403 {
						t.Errorf("%d: %s", code, body)
					}
					return
				}
				for path, test := range map[string]struct {
					header http.Header
					want   int
				}{
					collection + "/web": {nil, identity.get},
					collection:          {nil, identity.list},
					watch:               {events, identity.watch},
					collection + "?watch=1&fieldSelector=metadata.name%3Dweb": {events, identity.watch},
					base: {nil, identity.discover},
				} {
					code, body := r.get(t, path, test.header)
					if code != test.want {
						t.Errorf("%s: %d, want %d: %s", path, code, test.want, body)
					}
					if code >= 400 {
						var status metav1.Status
						if err := json.Unmarshal([]byte(body), &status); err != nil || status.Kind != "Status" || int(status.Code) != code {
							t.Errorf("%s: no Status: %s", path, body)
						}
					}
				}
				conn, code, err := r.dial(t, watch, "graphview.v1")
				if want := identity.watch; want == 200 && err == nil {
					if text, err := read(t, conn); err != nil || !strings.Contains(text, fixedVertex) {
						t.Errorf("WebSocket: %v %s", err, text)
					}
				} else if code != want {
					t.Errorf("WebSocket: %d, want %d: %v", code, want, err)
				}
			})
		}
	}

	t.Run("bearer subprotocol", func(t *testing.T) {
		for name, test := range map[string]struct {
			token string
			want  int
		}{"reader": {readerToken.BearerToken, 101}, "stranger": {strangerToken.BearerToken, 403}, "wrong": {"wrong", 401}} {
			protocol := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(test.token))
			for where, r := range map[string]road{"own port": ownPort(t, server, nobody), "aggregated": throughAPIServer(t, nobody)} {
				conn, code, err := r.dial(t, watch, "graphview.v1", protocol)
				if code != test.want {
					t.Errorf("%s, %s: %d: %v", name, where, code, err)
				}
				if err == nil && conn.Subprotocol() != "graphview.v1" {
					t.Errorf("%s, %s: subprotocol %q", name, where, conn.Subprotocol())
				}
			}
		}
	})
	t.Run("only the front proxy names users", func(t *testing.T) {
		claims := http.Header{"X-Remote-User": {"reader"}, "X-Remote-Group": {"system:masters"}}
		for name, test := range map[string]struct {
			config *rest.Config
			want   int
		}{"nobody": {nobody, 401}, "stranger": {cluster.ClientConfig("stranger"), 403}} {
			if code, body := ownPort(t, server, test.config).get(t, collection+"/web", claims); code != test.want {
				t.Errorf("%s: %d: %s", name, code, body)
			}
		}
	})
	t.Run("health", func(t *testing.T) {
		for _, path := range []string{"/readyz", "/livez"} {
			if code, body := ownPort(t, server, nobody).get(t, path, nil); code != 200 || body != "ok" {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
	})
}

// TestStreamKubectl: kubectl can read a graph without the plugin.
func TestStreamKubectl(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	server := startStream(t, c, newFixedGraph(namespace))
	aggregate(t, server)
	raw := "/apis/stream.graphview.dev/v1alpha1/namespaces/" + namespace + "/graphs/web"
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"list":          {[]string{"get", "graphs", "-n", namespace}, []string{"NAME", "READY", "OBJECTS", "REFERENCES", "SUBSCRIBERS", "web"}},
		"list of all":   {[]string{"get", "graphs", "-A"}, []string{"NAMESPACE", namespace}},
		"get":           {[]string{"get", "graph", "web", "-n", namespace}, []string{"OBJECTS", "web"}},
		"get as JSON":   {[]string{"get", "graph", "web", "-n", namespace, "-o", "json"}, []string{`"kind": "Graph"`, `"svx"`, `"rev": "r1"`}},
		"get raw":       {[]string{"get", "--raw", raw}, []string{`"actions":[` + fixedVertex + `]`, `"synced":true`}},
		"list as YAML":  {[]string{"get", "graphs", "-n", namespace, "-o", "yaml"}, []string{"vertices: 1"}},
		"API resources": {[]string{"api-resources", "--api-group=stream.graphview.dev", "-o", "wide"}, []string{"graphs", "get,list"}},
		"explain":       {[]string{"explain", "graphs"}, []string{"stream.graphview.dev", "actions"}},
	} {
		t.Run(name, func(t *testing.T) {
			// Discovery and OpenAPI follow an APIService with a delay.
			eventually(t, time.Minute, func() string {
				out, err := cluster.Kubectl(t.Context(), test.args...)
				for _, want := range test.want {
					if err != nil || !strings.Contains(string(out), want) {
						return fmt.Sprintf("%v: %s", err, out)
					}
				}
				return ""
			})
		})
	}
}

// TestStreamStops: a subscriber that is connected through the API server gets the reason of
// the end.
func TestStreamStops(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	server := startStream(t, c, newFixedGraph(namespace))
	aggregate(t, server)
	watch := "/apis/stream.graphview.dev/v1alpha1/watch/namespaces/" + namespace + "/graphs/web"
	var conns []*websocket.Conn
	for _, r := range []road{ownPort(t, server, cluster.Config()), throughAPIServer(t, cluster.Config())} {
		conn, _, err := r.dial(t, watch, "graphview.v1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, conn); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.stop()
	}()
	for _, conn := range conns {
		if text, err := read(t, conn); err != nil || !strings.Contains(text, `"code":1001,"code_string":"StatusGoingAway"`) {
			t.Errorf("%v %s", err, text)
		}
		_, err := read(t, conn)
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != websocket.StatusGoingAway {
			t.Errorf("%v", err)
		}
	}
	<-stopped
}
