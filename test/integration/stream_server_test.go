package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
	"graphview.dev/stream"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// fixedGraph is one view, whose graph is one vertex and never changes.
type fixedGraph struct{ name graphview.Name }

func newFixedGraph(namespace string) fixedCluster {
	return fixedCluster{fixedGraph{graphview.Name{Namespace: namespace, Name: "web"}}}
}

// fixedCluster has one view.
type fixedCluster struct{ view fixedGraph }

func (c fixedCluster) List() []stream.View { return []stream.View{c.view} }

func (c fixedCluster) Find(name graphview.Name) (stream.View, bool) {
	return c.view, name == c.view.name
}

func (c fixedCluster) Open(context.Context, graphview.OpenOptions) (stream.View, func(), error) {
	return c.view, func() {}, nil
}

func (g fixedGraph) Name() graphview.Name             { return g.name }
func (g fixedGraph) UID() string                      { return "fixed" }
func (g fixedGraph) Err() error                       { return nil }
func (g fixedGraph) Status() graphview.Status         { return graphview.Status{Vertices: 1, Synced: true} }
func (g fixedGraph) WaitSynced(context.Context) error { return nil }

func (g fixedGraph) Find(context.Context, graph.Key, delivery.Access) (*delivery.Found, error) {
	return nil, nil
}

// A fixedGraph has no history.
func (g fixedGraph) Changes(context.Context, delivery.ChangesQuery, delivery.Access) (*delivery.Changes, error) {
	return nil, graphview.ErrNoHistory
}
func (g fixedGraph) Past(int64) (*delivery.Past, int64, error) { return nil, 0, graphview.ErrNoHistory }
func (g fixedGraph) Gaps(int64) []history.Gap                  { return nil }

func (g fixedGraph) Subscribe(delivery.SubscribeOptions) stream.Subscription {
	sent := make(chan struct{}, 1)
	sent <- struct{}{}
	return fixedSubscription(sent)
}

type fixedSubscription chan struct{}

const fixedVertex = `{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"}}}`

func (s fixedSubscription) Next(ctx context.Context) ([]*delivery.Frame, error) {
	frames, wait, _ := s.Poll()
	if frames != nil {
		return frames, nil
	}
	return nil, wait(ctx)
}

func (s fixedSubscription) Poll() ([]*delivery.Frame, delivery.Wait, error) {
	select {
	case <-s:
		return []*delivery.Frame{{
			JSON:    []byte(`{"actions":[` + fixedVertex + `],"rev":"r1","synced":true}`),
			Actions: []byte(fixedVertex), Rev: "r1", Synced: true,
		}}, s.wait, nil
	default:
		return nil, s.wait, nil
	}
}

func (fixedSubscription) wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (fixedSubscription) Close() {}

// streamServer serves a fixed graph to the cluster's users.
type streamServer struct {
	*stream.Server
	authority []byte // PEM, of its certificate
	stop      func()
}

// startStream runs a server that has the rights that authentication and
// authorization need, and no others.
func startStream(t *testing.T, c client.Client, served stream.Cluster, change ...func(*stream.Options)) *streamServer {
	t.Helper()
	user := "stream-server-" + fmt.Sprint(time.Now().UnixNano())
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	create(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
	})
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: "kube-system"}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
	})
	fixture.Authorized(t, c, subjects, "", rbacv1.PolicyRule{
		APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"},
	})
	fixture.Authorized(t, c, subjects, "kube-system", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"extension-apiserver-authentication"}, Verbs: []string{"get"},
	})
	authority, key, err := certutil.GenerateSelfSignedCertKey(env.ServiceName+"."+env.ServiceNamespace+".svc",
		[]net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(authority, key)
	if err != nil {
		t.Fatal(err)
	}
	o := stream.Options{
		Config: cluster.ClientConfig(user), Cluster: served, BindAddress: "127.0.0.1:0",
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil },
	}
	for _, f := range change {
		f(&o)
	}
	server, err := stream.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- server.Run(ctx) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(stop)
	return &streamServer{Server: server, authority: authority, stop: stop}
}

// create makes an object for a test, which is deleted after it.
func create(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(c.Delete(context.Background(), object)); err != nil {
			t.Errorf("delete %T: %v", object, err)
		}
	})
}

// aggregate registers the server with the API server. The registration must not outlive the
// server, because namespaces are not deleted while a group is unavailable.
func aggregate(t *testing.T, server *streamServer) {
	t.Helper()
	if err := cluster.RegisterAPIService(t.Context(), server.Addr().(*net.TCPAddr).Port, server.authority); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		scheme := newScheme(t)
		if err := apiregistrationv1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		c, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
		if err != nil {
			t.Fatal(err)
		}
		registered := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1alpha1.stream.graphview.dev"}}
		if err := c.Delete(context.Background(), registered); err != nil {
			t.Error(err)
		}
	})
}

// road is a way to a graph, for one identity.
type road struct {
	base   string
	client *http.Client
}

// ownPort leads to the server itself, with the credentials of config.
func ownPort(t *testing.T, server *streamServer, config *rest.Config) road {
	t.Helper()
	config = rest.CopyConfig(config)
	config.CAData = server.authority
	return road{"https://" + server.Addr().String(), fixture.HTTP1(t, config)}
}

// throughAPIServer leads to the server by way of the aggregation layer.
func throughAPIServer(t *testing.T, config *rest.Config) road {
	t.Helper()
	return road{config.Host, fixture.HTTP1(t, config)}
}

func (r road) get(t *testing.T, path string, header http.Header) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(20*time.Second))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(request.Header, header)
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK && strings.Contains(path, "watch") {
		// A stream does not end; its first event is enough.
		first := make([]byte, len("data: "))
		if _, err := io.ReadFull(response.Body, first); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(first)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (r road) dial(t *testing.T, path string, protocols ...string) (*websocket.Conn, int, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(20*time.Second))
	defer cancel()
	conn, response, err := websocket.Dial(ctx, r.base+path, &websocket.DialOptions{HTTPClient: r.client, Subprotocols: protocols})
	if response == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, response.StatusCode, err
}

func read(t *testing.T, conn *websocket.Conn) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(20*time.Second))
	defer cancel()
	_, text, err := conn.Read(ctx)
	return string(text), err
}
