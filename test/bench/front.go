package main

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// front is a server in front of the API server. Its handler answers some requests itself, and forwards the others
// with the rights of the bench.
type front struct {
	server  *http.Server
	forward *httputil.ReverseProxy
	client  *http.Client // to the API server
	target  *url.URL
	served  sync.WaitGroup
	// kubeconfig is a file with the address of the front.
	kubeconfig string
}

// newFront starts a front whose files are in a directory of this name.
func newFront(plane *env.ControlPlane, name string, handler http.Handler) *front {
	config := plane.Config()
	f := &front{target: must.Get(url.Parse(config.Host)), client: must.Get(rest.HTTPClientFor(config))}
	quiet := log.New(io.Discard, "", 0) // connections end with the measured programs
	f.forward = &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(f.target) },
		Transport:     f.client.Transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
	}
	dir := filepath.Join(plane.Dir(), name)
	must.Do(os.MkdirAll(dir, 0o700))
	must.Do(plane.ServingCertificate(dir))
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	f.kubeconfig = filepath.Join(dir, "kubeconfig")
	config = &rest.Config{Host: "https://" + listener.Addr().String(), TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA()}}
	must.Do(env.WriteKubeconfig(f.kubeconfig, config))
	f.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ErrorLog: quiet}
	f.served.Go(func() {
		_ = f.server.ServeTLS(listener, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")) // close's error
	})
	return f
}

func (f *front) close() {
	_ = f.server.Close() // an error says that the listener was closed before
	f.served.Wait()
	f.client.CloseIdleConnections()
}
