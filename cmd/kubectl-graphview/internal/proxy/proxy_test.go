package proxy

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// serve runs a proxy before a server that reports the requests it gets.
func serve(t *testing.T) (*Proxy, <-chan *http.Request) {
	t.Helper()
	asked := make(chan *http.Request, 100)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		http.SetCookie(w, &http.Cookie{Name: "upstream", Value: "x"})
		_, _ = io.WriteString(w, "graph")
	}))
	t.Cleanup(upstream.Close)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	r, err := New(Options{Config: &rest.Config{Host: upstream.URL, BearerToken: "mine"}, Page: page, View: "shop/storefront"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, asked
}

// do sends a request as it is, without following redirects.
func do(t *testing.T, r *Proxy, method, target string, header map[string]string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.listener.Addr().String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = target // with no cleaning by the client
	for name, value := range header {
		if name == "Host" {
			request.Host = value
			continue
		}
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

const graph = "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/storefront"

func cookieOf(t *testing.T, r *Proxy) string {
	t.Helper()
	response := do(t, r, http.MethodGet, r.gate.root+openPath+r.gate.secret, nil)
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(page), "url="+r.gate.root+"/dashboard/#/shop/storefront\"") {
		t.Fatalf("the printed address: %s, %v, %s", response.Status, err, page)
	}
	cookies := response.Cookies()
	if len(cookies) == 1 && (cookies[0].Path != r.gate.root+"/" || len(r.gate.root) < 20) {
		t.Errorf("the cookie is for %s, which the servers of other ports know", cookies[0].Path)
	}
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("cookies %v, want one, HttpOnly and SameSite=Strict", cookies)
	}
	return cookies[0].Name + "=" + cookies[0].Value
}

func TestAccess(t *testing.T) {
	r, asked := serve(t)
	cookie := cookieOf(t, r)
	address := r.listener.Addr().String()
	port := address[strings.LastIndexByte(address, ':'):]
	with := func(more ...string) map[string]string {
		header := map[string]string{"Cookie": cookie}
		for i := 0; i < len(more); i += 2 {
			header[more[i]] = more[i+1]
		}
		return header
	}
	for name, test := range map[string]struct {
		method, target string
		header         map[string]string
		outside        bool // of the path of the cookie
		want           int
		wantForwarded  bool
	}{
		"a graph, outside":               {target: graph, header: with(), outside: true, want: 401},
		"the page, outside":              {target: "/dashboard/", header: with(), outside: true, want: 401},
		"the secret, outside":            {target: openPath + r.gate.secret, outside: true, want: 401},
		"the page":                       {target: "/dashboard/", header: with(), want: 200},
		"the root leads to the page":     {target: "/", header: with(), want: 302},
		"a graph":                        {target: graph, header: with(), want: 200, wantForwarded: true},
		"a graph, by the page":           {target: graph, header: with("Sec-Fetch-Site", "same-origin", "Origin", "http://"+address), want: 200, wantForwarded: true},
		"an object of a graph":           {target: graph + "/object?version=v1&resource=pods&name=a", header: with(), want: 200, wantForwarded: true},
		"all graphs":                     {target: prefix + "graphs", header: with(), want: 200, wantForwarded: true},
		"by localhost":                   {target: graph, header: with("Host", "localhost"+port), want: 200, wantForwarded: true},
		"without the cookie":             {target: graph, want: 401},
		"the page without the cookie":    {target: "/dashboard/", want: 401},
		"with another cookie":            {target: graph, header: map[string]string{"Cookie": r.gate.cookie + "=guess"}, want: 401},
		"by another name":                {target: graph, header: with("Host", "evil.example"+port), want: 421},
		"by another port":                {target: graph, header: with("Host", "127.0.0.1:1"), want: 421},
		"without a port":                 {target: graph, header: with("Host", "127.0.0.1"), want: 421},
		"from another page":              {target: graph, header: with("Sec-Fetch-Site", "cross-site"), want: 403},
		"from another port's page":       {target: graph, header: with("Sec-Fetch-Site", "same-site"), want: 403},
		"from another origin":            {target: graph, header: with("Origin", "http://evil.example"), want: 403},
		"from a sandboxed page":          {target: graph, header: with("Origin", "null"), want: 403},
		"a POST":                         {method: http.MethodPost, target: graph, header: with(), want: 405},
		"a DELETE":                       {method: http.MethodDelete, target: graph, header: with(), want: 405},
		"Secrets":                        {target: "/api/v1/secrets", header: with(), want: 404},
		"Secrets of a namespace":         {target: "/api/v1/namespaces/shop/secrets/web", header: with(), want: 404},
		"the clusters of a fleet":        {target: prefix + "clusters", header: with(), want: 200, wantForwarded: true},
		"a graph of a cluster":           {target: prefix + "clusters/eu-1/proxy" + graph, header: with(), want: 200, wantForwarded: true},
		"another path of a cluster":      {target: prefix + "clusters/eu-1/proxy/api/v1/secrets", header: with(), want: 404},
		"a cluster of a cluster":         {target: prefix + "clusters/eu-1/proxy" + prefix + "clusters/us-1/proxy" + graph, header: with(), want: 404},
		"Secrets by dots":                {target: prefix + "graphs/../../../../api/v1/secrets", header: with(), want: 307},
		"Secrets by escaped dots":        {target: prefix + "namespaces/%2e%2e/graphs", header: with(), want: 404},
		"Secrets by escaped slashes":     {target: prefix + "namespaces/..%2f..%2fapi/graphs/x", header: with(), want: 404},
		"a graph, escaped":               {target: prefix + "namespaces/sh%6fp/graphs/x", header: with(), want: 404},
		"the connection for many graphs": {target: prefix + "watch/streams", header: with(), want: 200, wantForwarded: true},
		"that of another page":           {target: prefix + "watch/streams", header: with("Sec-Fetch-Site", "cross-site"), want: 403},
		"that of a cluster":              {target: prefix + "clusters/eu-1/proxy" + prefix + "watch/streams", header: with(), want: 404},
		"that for an ad-hoc view":        {target: prefix + "graph", header: with(), want: 404},
		"another group":                  {target: "/apis/apps/v1/deployments", header: with(), want: 404},
		"the printed address, used, without the cookie": {target: openPath + r.gate.secret, want: 403},
		"the printed address, with the cookie":          {target: openPath + r.gate.secret, header: with(), want: 200},
		"a guess":                                       {target: openPath + "guess", want: 403},
	} {
		t.Run(name, func(t *testing.T) {
			method := test.method
			if method == "" {
				method = http.MethodGet
			}
			target := test.target
			if !test.outside {
				target = r.gate.root + target
			}
			response := do(t, r, method, target, test.header)
			if response.StatusCode != test.want {
				t.Errorf("%s, want %d", response.Status, test.want)
			}
			select {
			case <-asked:
				if !test.wantForwarded {
					t.Error("it was forwarded")
				}
			default:
				if test.wantForwarded {
					t.Error("it was not forwarded")
				}
			}
		})
	}
}

// The API server gets the identity from the kubeconfig only, and the browser gets no
// cookie of the API server.
func TestHeaders(t *testing.T) {
	r, asked := serve(t)
	response := do(t, r, http.MethodGet, r.gate.root+graph, map[string]string{
		"Cookie": cookieOf(t, r), "Origin": "http://" + r.listener.Addr().String(), "Accept": "text/event-stream", "Last-Event-ID": "7",
		"Authorization": "Bearer theirs", "Impersonate-User": "admin", "X-Remote-User": "admin", "X-Forwarded-For": "1.2.3.4", "Referer": "http://x",
		"Sec-WebSocket-Protocol": "graphview.v1, base64url.bearer.authorization.k8s.io.dGhlaXJz",
	})
	if got := response.Header.Values("Set-Cookie"); len(got) > 0 {
		t.Errorf("cookies of the API server: %v", got)
	}
	got := (<-asked).Header
	for _, name := range []string{"User-Agent", "Accept-Encoding"} {
		got.Del(name)
	}
	want := http.Header{
		"Authorization": {"Bearer mine"}, "Accept": {"text/event-stream"}, "Last-Event-Id": {"7"}, "Sec-Websocket-Protocol": {"graphview.v1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The connection for many graphs has no ad-hoc views, whatever the page asks for.
func TestDeclaredOnly(t *testing.T) {
	r, asked := serve(t)
	do(t, r, http.MethodGet, r.gate.root+prefix+"watch/streams?adhoc=true&heartbeats=1&adhoc=true", map[string]string{"Cookie": cookieOf(t, r)})
	if got := (<-asked).URL.RawQuery; got != "adhoc=false&heartbeats=1" {
		t.Errorf("the API server is asked with ?%s", got)
	}
}

func TestListensOnLoopback(t *testing.T) {
	r, _ := serve(t)
	if address := r.listener.Addr().String(); !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("it listens on %s", address)
	}
}
