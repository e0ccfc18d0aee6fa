package hostile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// within bounds everything that is waited for; it is no expectation.
const within = 90 * time.Second

// eventually polls until check returns "", and fails with what it last returned.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		why := check()
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, why)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := cluster.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func apply(t *testing.T, manifest string) {
	t.Helper()
	if err := tryApply(t, manifest); err != nil {
		t.Fatal(err)
	}
}

func tryApply(t *testing.T, manifest string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	// Not with an annotation of all that, which would be too long.
	_, err := cluster.Kubectl(t.Context(), "apply", "--server-side", "-f", file)
	return err
}

// secured is what it takes to talk TLS with the operator, as a user who may do
// everything; "" for nobody.
func secured(t *testing.T, user string) *tls.Config {
	t.Helper()
	config := cluster.ClientConfig(user, "system:masters")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	s := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, ServerName: "localhost"}
	if user != "" {
		pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
		if err != nil {
			t.Fatal(err)
		}
		s.Certificates = []tls.Certificate{pair}
	}
	return s
}

// client is a user's, without HTTP/2, over which there are no WebSockets.
func client(t *testing.T, user string) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: secured(t, user)}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// dial opens a WebSocket; where it is refused, code is that of the answer.
func dial(ctx context.Context, c *http.Client, path, protocol string, header http.Header) (conn *websocket.Conn, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
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
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(request)
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

// newNamespace makes a namespace for a test. It stays: nobody is there to delete
// what is in it.
func newNamespace(t *testing.T, prefix string) string {
	t.Helper()
	named++
	name := fmt.Sprintf("%s-%d", prefix, named)
	kubectl(t, "create", "namespace", name)
	return name
}
