package hostile

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// within bounds everything that is waited for; it is no expectation.
const within = 90 * time.Second

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, within, 100*time.Millisecond, check)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, cluster, args...)
}

// credentials returns the credentials of a user with all rights; none for "".
func credentials(user string) *rest.Config {
	config := cluster.ClientConfig(user, "system:masters")
	if user == "" {
		config = rest.AnonymousClientConfig(config)
	}
	config.ServerName = "localhost"
	return config
}

// client is a user's.
func client(t *testing.T, user string) *http.Client {
	t.Helper()
	return fixture.HTTP1(t, credentials(user))
}

// dial opens a WebSocket; where it is refused, code is that of the answer.
func dial(ctx context.Context, c *http.Client, path, protocol string, header http.Header) (conn *websocket.Conn, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience.For(within))
	defer cancel()
	conn, response, err := websocket.Dial(ctx, manager.URL()+path, &websocket.DialOptions{
		HTTPClient: c, HTTPHeader: header, Subprotocols: []string{protocol},
	})
	if response != nil {
		code = response.StatusCode
	}
	if err == nil {
		conn.SetReadLimit(-1)
	}
	return conn, code, err
}

func watchPath(namespace, name string) string {
	return fmt.Sprintf("/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/%s", namespace, name)
}

// get is a plain request.
func get(t *testing.T, c *http.Client, url string) (code int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	code, text, err := fixture.Get(ctx, c, url)
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// tally counts what became of attempts.
type tally struct {
	during usage // when it was at its worst

	mu     sync.Mutex
	counts map[string]int
}

// measure is for an attack to call before it lets go.
func (a *tally) measure(t *testing.T) {
	t.Helper()
	a.during = measure(t)
}

func (a *tally) add(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = map[string]int{}
	}
	a.counts[what]++
}

func (a *tally) count(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[what]
}

func (a *tally) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum, parts := 0, []string{}
	for _, what := range slices.Sorted(maps.Keys(a.counts)) {
		sum += a.counts[what]
		parts = append(parts, fmt.Sprintf("%d × %s", a.counts[what], what))
	}
	return fmt.Sprintf("%d tried: %s", sum, strings.Join(parts, ", "))
}

var named int // namespaces

// newNamespace makes a namespace for a test. It is not deleted: no controller would delete
// its objects.
func newNamespace(t *testing.T, prefix string) string {
	t.Helper()
	named++
	name := fmt.Sprintf("%s-%d", prefix, named)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	object.SetName(name)
	if _, err := resources(t, "", "namespaces").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}
