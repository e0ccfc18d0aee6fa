package docs

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/fixture"
)

// TestManifestsForUsers: the API server accepts the manifests of docs/clients.md.
func TestManifestsForUsers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, match := range manifest.FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(match[1], "apiVersion:") {
			continue // values of the chart, which test/chart knows
		}
		found++
		if err := fixture.TryApply(t, cluster, match[1], "--dry-run=server"); err != nil {
			t.Errorf("%v\n%s", err, match[1])
		}
	}
	if found != 1 {
		t.Errorf("%d manifests", found)
	}
}

// TestProxyForUsers: a page follows a graph through a proxy that adds its user's token and
// keeps the host. The WebSocket of a proxy that does not keep the host is refused, as
// docs/clients.md says.
func TestProxyForUsers(t *testing.T) {
	config, err := cluster.ServiceAccountConfig(t.Context(), "shop", "default")
	if err != nil {
		t.Fatal(err)
	}
	fixture.Kubectl(t, cluster, "create", "rolebinding", "of-a-page", "-n", "shop", "--clusterrole=view", "--serviceaccount=shop:default")
	t.Cleanup(func() { fixture.KubectlAfter(t, cluster, "delete", "rolebinding", "of-a-page", "-n", "shop") })
	for name, test := range map[string]struct {
		keepsHost bool
		want      string
	}{
		"keeps the host":        {true, ""},
		"has a host of its own": {false, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			server := proxyFor(t, config.BearerToken, test.keepsHost)
			proxy, client := server.URL, server.Client()
			const path = "/apis/stream.graphview.dev/v1alpha1/watch/namespaces/shop/graphs/storefront"
			t.Run("events", func(t *testing.T) {
				fixture.Eventually(t, within, 100*time.Millisecond, func() string { return firstEvent(t.Context(), client, proxy+path) })
			})
			t.Run("WebSocket", func(t *testing.T) {
				socket, response, err := websocket.Dial(t.Context(), proxy+path, &websocket.DialOptions{
					HTTPClient: client, Subprotocols: []string{"graphview.v1"}, HTTPHeader: http.Header{"Origin": {proxy}},
				})
				if test.want != "" {
					if err == nil || response == nil || fmt.Sprint(response.StatusCode) != test.want {
						t.Fatalf("%v, %v; want %s", err, response, test.want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer socket.CloseNow()
				if _, text, err := socket.Read(t.Context()); err != nil || !strings.Contains(string(text), `"actions"`) {
					t.Errorf("%v: %s", err, text)
				}
			})
		})
	}
}

// proxyFor starts a proxy that adds a token to each request.
func proxyFor(t *testing.T, token string, keepsHost bool) *httptest.Server {
	t.Helper()
	target := &url.URL{Scheme: "https", Host: fmt.Sprintf("127.0.0.1:%d", operator.Stream)}
	server := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+token)
			if keepsHost {
				r.Out.Host = r.In.Host
			}
		},
		FlushInterval: -1,
		// The operator's certificate is its own, as the page says.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	})
	t.Cleanup(server.Close)
	return server
}

// firstEvent is "" if a graph comes as server-sent events, and else what came.
func firstEvent(ctx context.Context, client *http.Client, url string) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Sprintf("%s: %v", response.Status, err)
		}
		if strings.HasPrefix(line, "data:") && strings.Contains(line, `"actions"`) {
			return ""
		}
	}
}
