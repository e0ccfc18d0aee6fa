package controllers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// WebhookServerOptions configure NewWebhookServer.
type WebhookServerOptions struct {
	// Address is host:port.
	Address string
	// Limit limits the connections of a listener. Required.
	Limit func(net.Listener) net.Listener
	// GetCertificate returns the serving certificate. Required.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// ClientCAFile has the certificates of allowed callers, in PEM. "" allows all callers,
	// since the API server has no client certificate unless it is configured.
	ClientCAFile string
}

// The time limits of a connection of the webhook. The API server waits for an answer
// for ten seconds at most.
const (
	webhookHeader = 5 * time.Second
	webhookRead   = 10 * time.Second
	webhookWrite  = 30 * time.Second
	webhookIdle   = 60 * time.Second
	webhookEnd    = 5 * time.Second
	// webhookHeaderBytes bounds the headers of a request. An API server's headers are short.
	webhookHeaderBytes = 16 << 10
)

// webhookServer is controller-runtime's server with limits, since callers of its port need no
// credentials.
type webhookServer struct {
	webhook.Server // registers, and counts requests

	options WebhookServerOptions
	mux     *http.ServeMux
	started chan struct{}
	once    sync.Once
}

// NewWebhookServer returns the server that a manager runs. webhookRequests limits
// unauthenticated callers.
func NewWebhookServer(o WebhookServerOptions) webhook.Server {
	mux := http.NewServeMux()
	return &webhookServer{
		Server: webhook.NewServer(webhook.Options{WebhookMux: mux}), options: o, mux: mux, started: make(chan struct{}),
	}
}

// Start serves until the context ends.
func (s *webhookServer) Start(ctx context.Context) error {
	config, err := s.tls()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Address)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	server := &http.Server{
		Handler:           newGate(s.mux),
		ReadHeaderTimeout: webhookHeader,
		ReadTimeout:       webhookRead,
		WriteTimeout:      webhookWrite,
		IdleTimeout:       webhookIdle,
		MaxHeaderBytes:    webhookHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookEnd)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
	})
	s.once.Do(func() { close(s.started) })
	err = server.Serve(tls.NewListener(s.options.Limit(listener), config))
	if !stop() {
		<-ended
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

func (s *webhookServer) tls() (*tls.Config, error) {
	// One request at a time on a connection: HTTP/2 has hundreds.
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: s.options.GetCertificate}
	if s.options.ClientCAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(s.options.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("webhook: read the certificates of who may ask: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("webhook: %s has no certificate in PEM", s.options.ClientCAFile)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}

// StartedChecker is healthy once the port is open.
func (s *webhookServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		select {
		case <-s.started:
			return nil
		default:
			return errors.New("the webhook does not listen yet")
		}
	}
}
