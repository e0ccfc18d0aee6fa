package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/test/patience"
)

// TestPathWithin: a path behind the prefix of a cluster is one of the cluster's server. A path that
// the API server, which has authorized it, and a proxy might read differently is refused.
func TestPathWithin(t *testing.T) {
	prefix := versionPath + "/clusters/eu/proxy"
	for name, test := range map[string]struct{ path, want string }{
		"a graph":                      {prefix + versionPath + "/namespaces/shop/graphs/web", versionPath + "/namespaces/shop/graphs/web"},
		"a namespace named clusters":   {prefix + versionPath + "/namespaces/clusters/graphs/web", versionPath + "/namespaces/clusters/graphs/web"},
		"the root":                     {prefix, "/"},
		"the root, with a slash":       {prefix + "/", "/"},
		"an escaped letter":            {prefix + "/%61pis", "/apis"},
		"an escaped blank":             {prefix + "/a%20b", "/a b"},
		"another cluster":              {path: versionPath + "/clusters/us/proxy/apis"},
		"a name that begins alike":     {path: prefix + "s/apis"},
		"no slash behind the prefix":   {path: prefix + "apis"},
		"clusters of the cluster":      {path: prefix + versionPath + "/clusters/us/proxy/apis"},
		"the clusters of the cluster":  {path: prefix + versionPath + "/clusters"},
		"clusters, escaped":            {path: prefix + versionPath + "/%63lusters/us/proxy"},
		"two slashes":                  {path: prefix + "//apis"},
		"an escaped slash":             {path: prefix + "/namespaces/shop%2Fgraphs"},
		"an escaped dot":               {path: prefix + "/%2e%2e/secrets"},
		"an escaped backslash":         {path: prefix + "/..%5Csecrets"},
		"a dot segment":                {path: prefix + "/./apis"},
		"two dots":                     {path: prefix + "/../us/proxy"},
		"two dots at the end":          {path: prefix + "/apis/.."},
		"an escaped percent for a dot": {prefix + "/%252e", "/%2e"},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse("https://hub" + test.path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pathWithin(u, "eu")
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// endlessFleet has a cluster whose answers do not end, and come in pieces of at most this size.
type endlessFleet struct {
	connectedFleet

	piece int
}

func (f endlessFleet) Route(context.Context, string, string) (proxy.Route, error) {
	return endlessRoute{piece: f.piece}, nil
}

type endlessRoute struct{ piece int }

func (e endlessRoute) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {jsonType}}, Body: io.NopCloser(spaces(e)), ContentLength: -1,
	}, nil
}
func (endlessRoute) Answers(context.Context) bool { return true }
func (endlessRoute) Down() <-chan struct{}        { return nil }

type spaces struct{ piece int }

func (s spaces) Read(p []byte) (int, error) {
	p = p[:min(len(p), s.piece)]
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestUnreadBytesOfAClusterAreCharged: while a client does not take the answer of another cluster, the window of the
// tunnel's stream is charged to the user, and no more after the answer has ended.
func TestUnreadBytesOfAClusterAreCharged(t *testing.T) {
	ledger := budget.NewLedger(64 << 20)
	s := serveOptions(t, Options{Cluster: fakeCluster{}, Fleet: endlessFleet{piece: 1 << 20}, Ledger: ledger})
	response := s.request(http.MethodGet, versionPath+"/clusters/eu-1/proxy"+versionPath+"/graphs", nil)
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
	patience.Await(t, "the window is charged", func() bool { return ledger.Total() >= tunnel.Window })
	_ = response.Body.Close()
	patience.Await(t, "the window is not charged after the end", func() bool { return ledger.Total() < tunnel.Window })
}

// TestUnreadAnswersOfAClusterEnd: a client that does not take the answer of another cluster holds its stream no longer
// than one of this cluster, whether it is the write or the flush of a piece that waits.
func TestUnreadAnswersOfAClusterEnd(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, piece := range []int{100, 1 << 20} {
			t.Run(fmt.Sprintf("HTTP/2 %v, pieces of %d bytes", http2, piece), func(t *testing.T) {
				s := serveOptions(t, Options{Cluster: fakeCluster{}, Fleet: endlessFleet{piece: piece}}, func(s *Server) { s.timing.write = 100 * time.Millisecond })
				transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: testRoots()}, ForceAttemptHTTP2: http2}
				t.Cleanup(transport.CloseIdleConnections)
				s.client.Transport = transport
				response := s.request(http.MethodGet, versionPath+"/clusters/eu-1/proxy"+versionPath+"/graphs", nil)
				defer response.Body.Close()
				if response.StatusCode != http.StatusOK || (response.ProtoMajor == 2) != http2 {
					t.Fatal(response.Status, response.Proto)
				}
				patience.Await(t, "the stream ends", func() bool { return sample(t, s.metrics.subscribers, clusterTransport) == 0 })
			})
		}
	}
}

// waitingFleet has a cluster that is not connected: a request waits until it ends.
type waitingFleet struct {
	connectedFleet

	asked chan struct{}
}

func (f waitingFleet) Route(ctx context.Context, _, _ string) (proxy.Route, error) {
	select {
	case f.asked <- struct{}{}:
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestCancelledRequests: a request over HTTP/2, as the API server's, that its client cancels ends alone. Its response must
// not be used after its handler: net/http lets the process panic then.
func TestCancelledRequests(t *testing.T) {
	const times = 200
	view := newView("shop/web")
	fleet := waitingFleet{asked: make(chan struct{})}
	s := serveOptions(t, Options{Cluster: fakeCluster{view}, Fleet: fleet})
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: testRoots()}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	s.client.Transport = transport
	// Each request is cancelled once it waits.
	asked := make(chan struct{})
	go func() {
		for {
			select {
			case <-view.subscribed:
			case <-fleet.asked:
			case <-t.Context().Done():
				return
			}
			asked <- struct{}{}
		}
	}()
	for path, accept := range map[string]string{
		"clusters/eu-1/proxy" + versionPath + "/graphs": jsonType,
		"namespaces/shop/graphs/web":                    jsonType,
		"watch/namespaces/shop/graphs/web":              jsonType,
		"watch/namespaces/shop/graphs/web?timeout=1m":   eventsType,
	} {
		for range times {
			ctx, cancel := context.WithCancel(t.Context())
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(graphs+path), http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer reader")
			request.Header.Set("Accept", accept)
			done := make(chan error, 1)
			go func() {
				response, err := s.client.Do(request)
				if err == nil {
					_, err = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
				done <- err
			}()
			<-asked
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: a cancelled request ends with %v", path, err)
			}
		}
	}
	response := s.request(http.MethodGet, versionPath, nil)
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		t.Errorf("afterwards: %s with HTTP/%d", response.Status, response.ProtoMajor)
	}
}
