package fleet

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/gateway"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

const (
	hubName = "acme"
	issuer  = "https://kubernetes.default.svc"
	subject = "system:serviceaccount:default:graphview-manager"
)

// logger logs into the test, which joins everything that logs.
func logger(t testing.TB) logr.Logger { return testr.NewWithInterface(t, testr.Options{}) }

// startServer serves a cluster to the users of a control plane.
func startServer(t testing.TB, plane *env.ControlPlane, o stream.Options) (server *stream.Server, authority []byte) {
	t.Helper()
	authority, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(authority, key)
	if err != nil {
		t.Fatal(err)
	}
	o.Config, o.BindAddress = plane.Config(), "127.0.0.1:0"
	o.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
	if server, err = stream.New(o); err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, server.Run)
	return server, authority
}

func startEngine(t testing.TB, plane *env.ControlPlane) *graphview.Engine {
	t.Helper()
	engine, err := graphview.NewEngine(graphview.Options{Config: plane.Config(), Logger: logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, engine.Run)
	return engine
}

// testHub is a hub with a server for users and a listener for members.
type testHub struct {
	*hub.Hub // of the test's goroutine

	options   hub.Options
	running   atomic.Pointer[hub.Hub]
	server    *stream.Server
	authority []byte // PEM, of the server
	tunnels   *httptest.Server
	caFile    string
}

func startHub(t testing.TB) *testHub {
	t.Helper()
	return startHubWith(t, hub.Options{})
}

func startHubWith(t testing.TB, o hub.Options) *testHub {
	t.Helper()
	if o.Name = hubName; o.Logger.GetSink() == nil {
		o.Logger = logger(t)
	}
	h := &testHub{options: o}
	h.begin(t)
	h.serve(t, func(w http.ResponseWriter, r *http.Request) { h.running.Load().Handler().ServeHTTP(w, r) })
	t.Cleanup(func() { h.Close() })
	h.server, h.authority = startServer(t, hubPlane, stream.Options{Cluster: stream.Of(startEngine(t, hubPlane)), Fleet: restarting{&h.running}, PermissionRecheck: time.Second})
	return h
}

// begin makes the hub.
func (h *testHub) begin(t testing.TB) {
	t.Helper()
	h.Hub = hub.New(h.options)
	h.running.Store(h.Hub)
}

// restarting is the fleet of a hub that is running.
type restarting struct{ hub *atomic.Pointer[hub.Hub] }

// Route implements stream.Fleet.
func (r restarting) Route(ctx context.Context, cluster, since string) (proxy.Route, error) {
	return r.hub.Load().Route(ctx, cluster, since)
}

// Clusters implements stream.Fleet.
func (r restarting) Clusters() []stream.ClusterStatus { return r.hub.Load().Clusters() }

// serve serves the handshakes of members.
func (h *testHub) serve(t testing.TB, handler http.HandlerFunc) {
	t.Helper()
	h.tunnels = httptest.NewUnstartedServer(handler)
	h.tunnels.Listener, h.tunnels.Config.ConnContext = admission.LimitConns(h.tunnels.Listener, nil), admission.ConnContext
	h.tunnels.StartTLS()
	t.Cleanup(h.tunnels.Close)
	h.caFile = filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.tunnels.Certificate().Raw})
	if err := os.WriteFile(h.caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// identityOf returns the identity of a member with the keys of its control plane.
func identityOf(t testing.TB, plane *env.ControlPlane) identity.Options {
	t.Helper()
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := client.RESTClient().Get().AbsPath("/openid/v1/jwks").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return identity.Options{Issuer: issuer, Subject: subject, JWKS: string(keys)}
}

// tokenOf writes a token of a member into a file.
func tokenOf(t testing.TB, plane *env.ControlPlane, audience string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	seconds := int64(3600)
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "graphview-manager", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// testMember is an installation of a member.
type testMember struct {
	plane     *env.ControlPlane
	engine    *graphview.Engine
	server    *stream.Server // for users of the member itself
	authority []byte         // PEM, of the server
	gateway   http.Handler
	run       string
}

func startMember(t testing.TB, plane *env.ControlPlane) *testMember {
	t.Helper()
	m := &testMember{plane: plane, engine: startEngine(t, plane)}
	served := stream.Of(m.engine)
	m.server, m.authority = startServer(t, plane, stream.Options{Cluster: served, PermissionRecheck: time.Second})
	m.run = m.engine.RunID()
	m.gateway = gateway.Only(m.server.HandlerFor(gateway.Authenticator(hubName)))
	return m
}

// dial connects the member to a hub as a link, until the test ends or stop is called.
func (m *testMember) dial(t testing.TB, h *testHub, link string) (stop func()) {
	t.Helper()
	return m.dialAt(t, h.tunnels.Listener.Addr().String(), h, link)
}

// dialAt is dial at an address that leads to hubs with the certificate of h.
func (m *testMember) dialAt(t testing.TB, address string, h *testHub, link string) (stop func()) {
	t.Helper()
	dialer, err := tunnel.NewDialer(tunnel.Options{
		URL: "wss://" + address + hub.TunnelPath + link, TokenFile: tokenOf(t, m.plane, hubName), CAFile: h.caFile, Instance: m.run, Version: "v0.1.0", Handler: m.gateway, Logger: logger(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return fixture.Start(t, dialer.Run)
}

// view declares a view of the ConfigMaps of a namespace.
func (m *testMember) view(t testing.TB, namespace string) oracle.View {
	t.Helper()
	selected := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource == 'configmaps'"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	spec, err := workload.Spec(selected)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.engine.Apply(t.Context(), graphview.Name{Namespace: namespace, Name: "web"}, "uid-"+namespace, spec); err != nil {
		t.Fatal(err)
	}
	return selected
}

func createConfigMap(t testing.TB, plane *env.ControlPlane, namespace, name string) {
	t.Helper()
	if err := fixture.Client(t, plane.Config()).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
		t.Fatal(err)
	}
}

func newNamespace(t testing.TB, plane *env.ControlPlane) string {
	t.Helper()
	return fixture.Namespace(t, plane, fixture.Client(t, plane.Config()), fixture.Prefix(t))
}

// allowCluster lets a user of the hub open graphs of a link.
func allowCluster(t testing.TB, who, link string) {
	t.Helper()
	allowAtHub(t, who, rbacv1.PolicyRule{Resources: []string{"clusters/proxy"}, ResourceNames: []string{link}, Verbs: []string{"get"}})
}

// allowClusters lets a user of the hub list clusters.
func allowClusters(t testing.TB, who string) {
	t.Helper()
	allowAtHub(t, who, rbacv1.PolicyRule{Resources: []string{"clusters"}, Verbs: []string{"list"}})
}

// allowConnections lets a user of the hub open connections for many graphs.
func allowConnections(t testing.TB, who string) {
	t.Helper()
	allowAtHub(t, who, rbacv1.PolicyRule{Resources: []string{"streams"}, Verbs: []string{"watch"}})
}

// allowAtHub gives a user of the hub a right to resources of the stream, and waits until it applies.
func allowAtHub(t testing.TB, who string, rule rbacv1.PolicyRule) {
	t.Helper()
	rule.APIGroups = []string{"stream.graphview.dev"}
	name := fmt.Sprintf("fleet-%s-%d", who, time.Now().UnixNano())
	c := fixture.Client(t, hubPlane.Config())
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: who}}
	for _, err := range []error{
		c.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}}),
		c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fixture.Authorized(t, c, subjects, "", rule)
}

// allow lets a user or group of the hub, named with its prefix, read graphs and some
// resources in a namespace of a member, and waits until that applies. The returned function takes the right away.
func allow(t testing.TB, plane *env.ControlPlane, kind, who, namespace string, resources ...string) (revoke func()) {
	t.Helper()
	name := fmt.Sprintf("fleet-%d", time.Now().UnixNano())
	c := fixture.Client(t, plane.Config())
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Subjects: []rbacv1.Subject{{Kind: kind, APIGroup: rbacv1.GroupName, Name: who}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"stream.graphview.dev"}, Resources: []string{"graphs", "graphs/object"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: resources, Verbs: []string{"get", "list", "watch"}},
	}
	for _, err := range []error{
		c.Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Rules: rules}),
		c.Create(t.Context(), binding),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fixture.Authorized(t, c, binding.Subjects, namespace, rules...)
	return func() {
		if err := c.Delete(t.Context(), binding); err != nil {
			t.Error(err)
		}
	}
}

const groupPath = "/apis/stream.graphview.dev/v1alpha1"

// pathOf returns the path of a member's graphs at the hub.
func pathOf(link, namespace string) string {
	return groupPath + "/clusters/" + link + "/proxy" + groupPath + "/namespaces/" + namespace + "/graphs"
}

// watchOf returns the path that streams a graph.
func watchOf(path string) string {
	return strings.Replace(path, "/proxy"+groupPath, "/proxy"+groupPath+"/watch", 1)
}

// client returns a client of the hub for one of its users, and the URL of the hub.
func (h *testHub) client(t testing.TB, who string, groups ...string) (*http.Client, string) {
	t.Helper()
	config := rest.CopyConfig(hubPlane.ClientConfig(who, groups...))
	config.TLSClientConfig.CAData = h.authority
	return fixture.HTTP1(t, config), "https://" + h.server.Addr().String()
}
