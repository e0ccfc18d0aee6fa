package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/gateway"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/stream/replicas"
)

// fleetHub is a hub with the listener of its members. Nil: this installation is no hub.
type fleetHub struct {
	*hub.Hub
	notifier *controllers.Notifier
	listener net.Listener
	secured  *tls.Config
	files    *certwatcher.CertWatcher // nil: the certificate of the stream listener
	counter  *replicas.Counter        // nil: this replica is alone
	known    chan struct{}            // closed when all ClusterLinks have been applied
}

// newFleetHub returns nil without --tunnel-bind-address.
func newFleetHub(o *options, config *rest.Config, certificates certificates, run string) (*fleetHub, error) {
	if o.tunnelAddress == "" {
		return nil, nil
	}
	f := &fleetHub{known: make(chan struct{}), notifier: &controllers.Notifier{}, secured: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificates.get}}
	if o.tunnelCertDir != "" {
		files, err := certwatcher.New(filepath.Join(o.tunnelCertDir, "tls.crt"), filepath.Join(o.tunnelCertDir, "tls.key"))
		if err != nil {
			return nil, fmt.Errorf("certificate for tunnels: %w", err)
		}
		f.files, f.secured.GetCertificate = files, files.GetCertificate
	}
	with := hub.Options{
		Name: o.hubName, Known: f.known, Notify: func(link string) { f.notifier.Notify(graphview.Name{Name: link}) }, Logger: ctrl.Log.WithName("hub"),
	}
	var err error
	if f.counter, err = newCounter(o, config, run); err != nil {
		return nil, err
	}
	if f.counter != nil {
		with.Replicas = f.counter
	}
	f.Hub = hub.New(with)
	if err := f.Register(metrics.Registry); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	if f.listener, err = net.Listen("tcp", o.tunnelAddress); err != nil {
		return nil, fmt.Errorf("listen for members: %w", err)
	}
	return f, nil
}

// fleet returns the clusters of the hub; nil without one.
func (f *fleetHub) fleet() stream.Fleet {
	if f == nil {
		return nil
	}
	return f.Hub
}

// run serves handshakes until ctx is done, and then ends the tunnels.
func (f *fleetHub) run(ctx context.Context) error {
	server := &http.Server{
		Handler: f.Handler(), TLSConfig: f.secured, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(httpLog("hub"), "", 0), Protocols: &http.Protocols{}, ConnContext: admission.ConnContext,
	}
	server.Protocols.SetHTTP1(true) // WebSockets
	var running sync.WaitGroup
	running.Go(func() { _ = f.Run(ctx) }) // it ends with ctx
	if f.counter != nil {
		running.Go(func() { _ = f.counter.Run(ctx) }) // likewise
	}
	if f.files != nil {
		running.Go(func() { _ = f.files.Start(ctx) }) // likewise
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(admission.LimitConns(f.listener, nil), "", "") }()
	var err error
	select {
	case <-ctx.Done():
		err = server.Close()
		err = errors.Join(err, <-served)
	case err = <-served:
	}
	f.Close()
	running.Wait()
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve members: %w", err)
	}
	return nil
}

// ApplyLink implements controllers.Hub.
func (f *fleetHub) ApplyLink(name string, spec v1alpha1.ClusterLinkSpec) error {
	var names []string
	for _, known := range spec.KnownAs {
		names = append(names, known.String())
	}
	return f.Apply(hub.Link{Name: name, DisplayName: spec.DisplayName, Aliases: names, Suspended: spec.Suspend, Identity: identity.Options{
		Issuer: spec.Identity.Issuer, Subject: spec.Identity.Subject, JWKS: spec.Identity.JWKS, CABundle: spec.Identity.CABundle,
	}})
}

// RemoveLink implements controllers.Hub.
func (f *fleetHub) RemoveLink(name string) { f.Remove(name) }

// LinkState implements controllers.Hub.
func (f *fleetHub) LinkState(name string) controllers.LinkState {
	status, _ := f.Status(name)
	return controllers.LinkState{
		NotUnique: status.Ambiguous, Tunnels: status.Tunnels, Version: status.Version, Reason: string(status.Reason), Message: status.Message,
	}
}

// LinksKnown implements controllers.Hub.
func (f *fleetHub) LinksKnown() { close(f.known) }

// linksKnown returns a channel that is closed when all ClusterLinks have been applied. Without a
// hub there are none.
func (f *fleetHub) linksKnown() <-chan struct{} {
	if f == nil {
		known := make(chan struct{})
		close(known)
		return known
	}
	return f.known
}

// withMember returns the function that runs the server, and with --hub-url tunnels to a hub. They
// begin when the operator knows its GraphViews, since a hub sends the requests that wait at once, and end
// after the streams on them.
func withMember(o *options, run string, server *stream.Server, known <-chan struct{}) (func(context.Context) error, error) {
	if o.hubURL == "" {
		return server.Run, nil
	}
	dialer, err := tunnel.NewDialer(tunnel.Options{
		URL: o.hubURL, TokenFile: o.hubTokenFile, CAFile: o.hubCAFile, MaxAge: o.tunnelMaxAge,
		Instance: run, Version: semantic(version), Logger: ctrl.Log.WithName("member"),
		Handler: gateway.Only(server.HandlerFor(gateway.Authenticator(o.hubName))),
	})
	if err != nil {
		return nil, err
	}
	return stream.Outliving(func(ctx context.Context) error {
		select {
		case <-known:
			return dialer.Run(ctx)
		case <-ctx.Done():
			return nil
		}
	}, server.Run), nil
}

// httpLog logs errors of net/http under a name. Nearly all of them are failed handshakes of
// unknown peers.
type httpLog string

func (l httpLog) Write(p []byte) (int, error) {
	ctrl.Log.WithName(string(l)).V(1).Info("http", "message", string(p))
	return len(p), nil
}
