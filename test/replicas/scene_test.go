package replicas

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// scene is a namespace with ConfigMaps, a view of them, and a reader at each replica.
type scene struct {
	t         *testing.T
	client    client.Client
	http      *http.Client
	namespace string
	view      oracle.View
	objects   int
	readers   map[*operator.Operator]*reader
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		t: t, client: fixture.Client(t, cluster.Config()), http: fixture.HTTP1(t, cluster.Config()), readers: make(map[*operator.Operator]*reader),
	}
	s.namespace = fixture.Namespace(t, cluster, s.client, "replicas")
	text := fmt.Sprintf(`{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: web, namespace: %s}, spec: {queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'"}}], namespaces: {names: [%s]}}}`, s.namespace, s.namespace)
	var err error
	if s.view, err = oracle.ParseView([]byte(text)); err != nil {
		t.Fatal(err)
	}
	fixture.Apply(t, cluster, text)
	for _, r := range replicas {
		s.follow(r)
	}
	s.change()
	return s
}

// change adds an object.
func (s *scene) change() {
	s.t.Helper()
	s.objects++
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprint("config-", s.objects)}}
	if err := s.client.Create(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

// reader follows the view at one replica, and connects again whenever its stream ends and the replica
// is ready.
type reader struct {
	*subscriber.Subscriber

	at atomic.Pointer[operator.Operator]
}

var errNotReady = errors.New("the replica is not ready")

// follow adds a reader at a replica.
func (s *scene) follow(at *operator.Operator) *reader {
	s.t.Helper()
	r := &reader{Subscriber: subscriber.New()}
	r.at.Store(at)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Persist(ctx, func(ctx context.Context, since string) (subscriber.Stream, error) {
			at := r.at.Load()
			if !at.Ready(ctx) {
				return nil, errNotReady
			}
			address := fmt.Sprintf("%s/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/web?since=%s", at.URL(), s.namespace, url.QueryEscape(since))
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
			if err != nil {
				return nil, err
			}
			return subscriber.Response(s.http, request)
		})
	}()
	s.t.Cleanup(func() {
		cancel()
		<-done
	})
	s.readers[at] = r
	return r
}

// move has a reader continue at another replica. It returns when the reader is connected there.
func (s *scene) move(r *reader, to *operator.Operator) {
	s.t.Helper()
	r.at.Store(to)
	before := r.Connections()
	r.Drop()
	eventually(s.t, func() string {
		if r.Connections() == before {
			return "a reader does not connect to another replica"
		}
		return ""
	})
}

// equal waits until the readers at some replicas have the graph that the oracle builds.
func (s *scene) equal(at ...*operator.Operator) {
	s.t.Helper()
	want, err := oracle.Build(s.t.Context(), cluster.Config(), s.view)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, replica := range at {
		r := s.readers[replica]
		eventually(s.t, func() string { return r.Differs(want) })
	}
}

// undisturbed returns a function that fails the test unless nothing has happened to the readers at
// some replicas since: no message that ends a stream, no other connection, no reset.
func (s *scene) undisturbed(at ...*operator.Operator) func() {
	s.t.Helper()
	happened := func(r *reader) string {
		return fmt.Sprintf("%d resets, %d connections, ends %v", r.Resets(), r.Connections(), r.Ends())
	}
	before := make(map[*reader]string)
	for _, replica := range at {
		before[s.readers[replica]] = happened(s.readers[replica])
	}
	return func() {
		s.t.Helper()
		for r, was := range before {
			if now := happened(r); now != was {
				s.t.Errorf("a bystander had %s, and now has %s", was, now)
			}
		}
	}
}
