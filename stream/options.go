package stream

import (
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
)

// Options of a Server. Config, Graphs and GetCertificate are required.
type Options struct {
	// Config leads to the API server that authenticates and authorizes.
	Config *rest.Config
	// Graphs is what is served.
	Graphs Graphs
	// Known is closed when Graphs has every view that there is; until then one
	// that it does not have may still come, and is 503 instead of 404. Nil: it
	// has them from the start.
	Known <-chan struct{}
	// BindAddress is host:port; default ":8443". Port 0 takes a free one.
	BindAddress string
	// GetCertificate gives each connection its serving certificate.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// AllowedOrigins are host patterns (path.Match) of the pages, beside those of
	// the same host, that may open WebSockets and read answers.
	AllowedOrigins []string
	// SyncTimeout bounds how long a get waits for a view to sync; default 30 s.
	SyncTimeout time.Duration
	// PermissionRecheck is how often it is asked again what open streams may
	// show, and whether they may go on; default 60 s.
	PermissionRecheck time.Duration
	// DigestKey is shared by the replicas whose revisions hold at each other. Nil: they
	// hold at this one alone.
	DigestKey []byte
	// Registerer gets the server's metrics; nil: nobody does.
	Registerer prometheus.Registerer
	// MaxOpen bounds the graphs that are being sent at once, streams and gets;
	// default 10,000.
	MaxOpen int
	// MaxChannels bounds the graphs on one connection that takes several; default
	// 256.
	MaxChannels int
	// Pages serves what is below /dashboard/ to everybody: static files, which read
	// graphs as any other client does. Nil: there are none.
	Pages http.Handler
	// Version is what /version says, v1.2.3; default "v0.0.0".
	Version string
	// Logger gets what nobody else is told. The zero value is silent.
	Logger logr.Logger
}

func (o Options) complete() (Options, error) {
	if o.Config == nil {
		return o, errors.New("no rest.Config")
	}
	if o.Graphs == nil {
		return o, errors.New("no graphs to serve")
	}
	if o.GetCertificate == nil {
		return o, errors.New("no serving certificate")
	}
	if o.BindAddress == "" {
		o.BindAddress = ":8443"
	}
	if o.SyncTimeout == 0 {
		o.SyncTimeout = 30 * time.Second
	}
	if o.PermissionRecheck == 0 {
		o.PermissionRecheck = time.Minute
	}
	if o.MaxOpen == 0 {
		o.MaxOpen = int(openGraphs.Limit())
	}
	if o.MaxChannels == 0 {
		o.MaxChannels = 256
	}
	if o.Version == "" {
		o.Version = "v0.0.0"
	}
	return o, nil
}

// timing is what every session waits by. It is not an option: the contract
// states the heartbeat, and the rest follows from it.
type timing struct {
	// heartbeat is the silence after which a peer is sent something.
	heartbeat time.Duration
	// pong is how long a WebSocket peer may take to answer a ping. It ends
	// connections that a proxy keeps half open, within a minute of silence.
	pong time.Duration
	// write is how long one frame may take. A reader may pause for many minutes
	// and is not cut for that; a peer that is gone is noticed by TCP, which does
	// not let go of unacknowledged data for about as long.
	write time.Duration
	// request is how long a client may take to say what an ad-hoc view is of.
	request time.Duration
	// idle is how long a connection for many graphs may have none.
	idle time.Duration
	// grace is how long open streams may take to say goodbye when the server
	// stops.
	grace time.Duration
}

func defaultTiming() timing {
	return timing{
		heartbeat: 20 * time.Second, pong: 30 * time.Second, write: 15 * time.Minute,
		request: 10 * time.Second, idle: time.Minute, grace: 5 * time.Second,
	}
}
