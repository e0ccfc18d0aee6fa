package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"

	"graphview.dev/stream/admission"
)

// The time limits of a request to a port of the webhook, metrics or health. The API server waits ten seconds at most
// for the webhook. These ports also limit connections. The servers
// of controller-runtime do not, and bound only the time for the headers of a request.
const (
	portRead  = 10 * time.Second
	portWrite = 30 * time.Second
	portIdle  = time.Minute

	portHeaderBytes = 16 << 10 // room for a bearer token
)

// servePort serves at an address, with TLS if there is a config. Address "0" serves nothing.
func servePort(mgr manager.Manager, name, address string, config *tls.Config, handler http.Handler) error {
	if address == "0" {
		return nil
	}
	listener, err := net.Listen("tcp", address) //nolint:noctx // it is bound at once
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if listener = admission.LimitStrangers(listener); config != nil {
		listener = tls.NewListener(listener, config)
	}
	grace := shutdownTimeout
	return mgr.Add(&manager.Server{Name: name, Listener: listener, ShutdownTimeout: &grace, Server: &http.Server{
		Handler: handler, ReadTimeout: portRead, WriteTimeout: portWrite, IdleTimeout: portIdle, MaxHeaderBytes: portHeaderBytes,
	}})
}

// serveMetrics serves /metrics. With authentication, it serves them with the certificate of the
// graphs, to clients that the API server says may get /metrics.
func serveMetrics(mgr manager.Manager, o *options, config *rest.Config, c certificates) error {
	handler := promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	var secure *tls.Config
	if o.metricsAuth {
		filter, err := filters.WithAuthenticationAndAuthorization(config, mgr.GetHTTPClient())
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		if handler, err = filter(ctrl.Log.WithName("metrics"), handler); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		secure = c.config()
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", handler)
	return servePort(mgr, "metrics", o.metricsAddress, secure, mux)
}

// probes are the checks of /healthz and /readyz.
type probes struct{ live, ready map[string]healthz.Checker }

// serve serves the probes.
func (p probes) serve(mgr manager.Manager, address string) error {
	mux := http.NewServeMux()
	for path, checks := range map[string]map[string]healthz.Checker{"/healthz": p.live, "/readyz": p.ready} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		mux.Handle(path, handler)
		mux.Handle(path+"/", handler)
	}
	return servePort(mgr, "health probe", address, nil, mux)
}
