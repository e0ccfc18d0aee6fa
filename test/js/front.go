package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
	"graphview.dev/test/workload"
)

// front is the server that tests use: a proxy to the operator (/apis) and to the API
// server (/kube), files (/files, /page), and commands that change the cluster
// (/control).
type front struct {
	plane    *env.ControlPlane
	manager  *operator.Operator
	changes  *workload.Workload
	listener net.Listener
	server   *http.Server
	upstream *http.Transport
	served   chan error

	acting sync.Mutex // one change, or restart, at a time

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func newFront(plane *env.ControlPlane, manager *operator.Operator, root string) *front {
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(plane.CA())
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	admin := must.Get(client.New(plane.Config(), client.Options{}))
	f := &front{
		plane: plane, manager: manager, listener: listener, changes: newWorkload(admin),
		// Without HTTP/2, over which there are no WebSockets.
		upstream: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}},
		conns:    map[net.Conn]struct{}{}, served: make(chan error, 1),
	}
	own, kube := f.relay(manager.URL()), f.relay(plane.URL())
	page := http.NewServeMux()
	page.Handle("/", http.FileServer(http.Dir(filepath.Join(root, "client", "js"))))
	for path, file := range map[string]string{
		"/page.html":  "docs/examples/page.html",
		"/embed.html": "docs/examples/embed.html", "/embed.css": "docs/examples/embed.css", "/embed.js": "docs/examples/embed.js",
		"/graph-view.js": "bin/graph-view.js",
	} {
		page.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, filepath.Join(root, file)) })
	}
	mux := http.NewServeMux()
	mux.Handle("/apis/", own)
	mux.Handle("/openapi/", own)
	mux.Handle("/dashboard/", own)
	mux.Handle("/kube/", http.StripPrefix("/kube", kube))
	mux.Handle("/page/", http.StripPrefix("/page", page))
	for _, dir := range []string{"client/js", "test/js"} {
		mux.Handle("/files/"+dir+"/", http.StripPrefix("/files/"+dir, http.FileServer(http.Dir(filepath.Join(root, dir)))))
	}
	mux.Handle("/tools/", http.StripPrefix("/tools", http.FileServer(http.Dir(filepath.Join(root, "bin", ".js", "node_modules")))))
	mux.HandleFunc("POST /control/change", f.change)
	mux.HandleFunc("POST /control/cut", f.cut)
	mux.HandleFunc("POST /control/restart", f.restart)
	mux.HandleFunc("POST /control/kubectl", f.kubectl)
	f.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ConnContext: withConn, ConnState: f.track}
	// A client with kept connections could use a cut one for its next request, but the tests
	// are about streams.
	f.server.SetKeepAlivesEnabled(false)
	go func() { f.served <- f.server.Serve(listener) }()
	return f
}

func (f *front) url() string { return "http://" + f.listener.Addr().String() }

func (f *front) close() error {
	err := f.server.Close()
	f.sever(nil) // the server does not close hijacked connections
	f.upstream.CloseIdleConnections()
	if served := <-f.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// relay returns a proxy that changes no requests.
func (f *front) relay(to string) http.Handler {
	target := must.Get(url.Parse(to))
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		Transport: f.upstream, FlushInterval: -1,
		// Clients have to handle this error while the operator restarts.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
}

type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// track records the server's open connections, also hijacked ones.
func (f *front) track(conn net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch state {
	case http.StateNew:
		f.conns[conn] = struct{}{}
	case http.StateClosed:
		delete(f.conns, conn)
	}
}

// sever closes all connections but one.
func (f *front) sever(but net.Conn) (number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		if conn == but {
			continue
		}
		// Closed hijacked connections are still in the record.
		if conn.Close() == nil {
			number++
		}
		delete(f.conns, conn)
	}
	return number
}

func (f *front) cut(w http.ResponseWriter, r *http.Request) {
	asking, _ := r.Context().Value(connKey{}).(net.Conn)
	fmt.Fprintln(w, f.sever(asking))
}

// change makes n random changes.
func (f *front) change(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.URL.Query().Get("n"))
	f.acting.Lock()
	defer f.acting.Unlock()
	for range number {
		if err != nil {
			break
		}
		err = f.changes.Step(r.Context())
	}
	answer(w, nil, err)
}

func (f *front) restart(w http.ResponseWriter, r *http.Request) {
	f.acting.Lock()
	defer f.acting.Unlock()
	var err error
	if code := f.manager.Stop(r.Context()); code != 0 {
		err = fmt.Errorf("the operator's exit code is %d", code)
	}
	answer(w, nil, errors.Join(err, f.manager.Restart()))
}

// kubectl runs kubectl as the administrator. The body has its arguments, and a manifest for
// apply.
func (f *front) kubectl(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Args     []string        `json:"args"`
		Manifest json.RawMessage `json:"manifest"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		answer(w, nil, err)
		return
	}
	f.acting.Lock()
	defer f.acting.Unlock()
	if asked.Manifest != nil {
		file := filepath.Join(f.plane.Dir(), "asked.json")
		if err := os.WriteFile(file, asked.Manifest, 0o600); err != nil {
			answer(w, nil, err)
			return
		}
		asked.Args = append(asked.Args, "-f", file)
	}
	out, err := f.plane.Kubectl(r.Context(), asked.Args...)
	answer(w, out, err)
}

func answer(w http.ResponseWriter, out []byte, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(out) // the client has closed the connection
}
