package stream

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"k8s.io/apiserver/pkg/authentication/user"
)

// serveSole serves one user over a Pipe until the test ends, and returns the server and a client.
func serveSole(t *testing.T, served fakeCluster) (*Server, *http.Client) {
	t.Helper()
	pipe := NewPipe()
	s, err := New(Options{Cluster: served, Sole: &user.DefaultInfo{Name: "ann"}, Listener: pipe})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	transport := &http.Transport{DialContext: pipe.Dial}
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		transport.CloseIdleConnections()
	})
	return s, &http.Client{Transport: transport}
}

// TestSole: every handler answers the only user, without credentials and without an API server.
func TestSole(t *testing.T) {
	view := newView("shop/local")
	_, client := serveSole(t, fakeCluster{view})
	for path, want := range map[string]int{
		graphs + "graphs":                         http.StatusOK,
		graphs + "namespaces/shop/graphs":         http.StatusOK,
		graphs + "namespaces/shop/graphs/absent":  http.StatusNotFound,
		graphs + "watch/namespaces/shop/graphs/x": http.StatusNotFound,
		"/apis/stream.graphview.dev/v1alpha1":     http.StatusOK,
		"/readyz":                                 http.StatusOK,
		"/nothing":                                http.StatusNotFound,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://pipe"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
	for path, protocol := range map[string]string{
		graphs + "watch/namespaces/shop/graphs/local": "graphview.v1", graphs + "watch/streams": "graphview.mux.v1", "/graph": "gitlab-agent-graph-api",
	} {
		socket, response, err := websocket.Dial(t.Context(), "http://pipe"+path, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{protocol}})
		if err != nil {
			t.Fatalf("%s: %v (%+v)", path, err, response)
		}
		_ = socket.CloseNow()
	}
}

// TestSoleRefused: no other process reaches graphs that are served without a check.
func TestSoleRefused(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	who := &user.DefaultInfo{Name: "ann"}
	for name, tt := range map[string]struct {
		options Options
		want    string
	}{
		"a listener without a user":     {Options{Listener: NewPipe()}, "name the user in Sole"},
		"a user without a listener":     {Options{Sole: who}, "Sole needs a Listener in memory"},
		"a listener on a port":          {Options{Sole: who, Listener: tcp}, "other processes reach a listener of network tcp"},
		"a listener on a socket's file": {Options{Sole: who, Listener: unix}, "other processes reach a listener of network unix"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.options.Cluster = fakeCluster{}
			if _, err := New(tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestPipe(t *testing.T) {
	p := NewPipe()
	accepted := make(chan net.Conn)
	go func() {
		conn, err := p.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	dialled, err := p.Dial(t.Context(), "tcp", "anywhere")
	if err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	go func() { _, _ = dialled.Write([]byte("a")) }()
	if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	_, _ = dialled.Close(), server.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Dial(ended, "", ""); err == nil {
		t.Error("dialled without a server")
	}
	_ = p.Close()
	if _, err := p.Accept(); err == nil {
		t.Error("accepted after Close")
	}
	if _, err := p.Dial(t.Context(), "", ""); err == nil {
		t.Error("dialled after Close")
	}
}
