package stream

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/stream/admission"
)

// Options of a Server. Cluster is required, and either Config and GetCertificate, or Sole and
// Listener.
type Options struct {
	// Config is for the API server that authenticates and authorizes.
	Config *rest.Config
	// Cluster has the graphs to serve.
	Cluster Cluster
	// Fleet has the graphs of other clusters. Nil: there are none.
	Fleet Fleet
	// ClusterWait bounds how long a request waits for a route to another cluster, unless it
	// says so itself; default 20 s.
	ClusterWait time.Duration
	// Known is closed when Cluster has all its views. Until then a view that it lacks is 503
	// instead of 404. Nil: it has them from the start.
	Known <-chan struct{}
	// Ineffective returns which parts of a GraphView have no effect, "" for none, and whether
	// that is known yet. It is shown only to users who may get the GraphView. Nil: nothing is
	// known.
	Ineffective func(graphview.Name) (text string, known bool)
	// Ledger is charged for connections. Nil: one for this server.
	Ledger *budget.Ledger
	// BindAddress is host:port; default ":8443". Port 0 takes a free one.
	BindAddress string
	// GetCertificate gives each connection its serving certificate.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Sole is the only user, in a process of that user: every request is the user's, and no
	// API server is asked. It needs a Listener.
	Sole user.Info
	// Listener is a listener in memory, such as a Pipe, that is served without TLS. It needs
	// Sole.
	Listener net.Listener
	// AllowedOrigins are host patterns (path.Match) of pages that may open WebSockets and
	// read answers, in addition to pages of the same host.
	AllowedOrigins []string
	// SyncTimeout bounds how long a get waits for a view to sync; default 30 s.
	SyncTimeout time.Duration
	// PermissionRecheck is how often the rights of open streams are checked again; default
	// 60 s.
	PermissionRecheck time.Duration
	// Registerer registers the server's metrics. Nil: they are not registered.
	Registerer prometheus.Registerer
	// MaxOpen bounds the graphs that are sent at the same time, in streams and gets; default
	// 10,000.
	MaxOpen int
	// MaxChannels bounds the graphs on one connection for many graphs; default 256.
	MaxChannels int
	// Pages serves static files below /dashboard/ without authentication. Nil: there are
	// none.
	Pages http.Handler
	// Version is the answer of /version, such as v1.2.3; default "v0.0.0".
	Version string
	// Logger receives internal errors. The zero value is silent.
	Logger logr.Logger
}

func (o Options) complete() (Options, error) {
	if err := o.checkSole(); err != nil {
		return o, err
	}
	if o.Config == nil && o.Sole == nil {
		return o, errors.New("no rest.Config")
	}
	if o.Cluster == nil {
		return o, errors.New("no graphs to serve")
	}
	if o.GetCertificate == nil && o.Sole == nil {
		return o, errors.New("no serving certificate")
	}
	o.BindAddress = cmp.Or(o.BindAddress, ":8443")
	if o.Ledger == nil {
		o.Ledger = budget.NewLedger(0)
	}
	o.SyncTimeout = cmp.Or(o.SyncTimeout, 30*time.Second)
	o.ClusterWait = cmp.Or(o.ClusterWait, 20*time.Second)
	o.PermissionRecheck = cmp.Or(o.PermissionRecheck, time.Minute)
	o.MaxOpen = cmp.Or(o.MaxOpen, admission.MaxGraphs())
	o.MaxChannels = cmp.Or(o.MaxChannels, 256)
	o.Version = cmp.Or(o.Version, "v0.0.0")
	return o, nil
}

// timing has the timeouts of sessions. It is not an option: clients rely on the heartbeat,
// and the rest follows from it.
type timing struct {
	// heartbeat is the silence after which a heartbeat is sent.
	heartbeat time.Duration
	// pong bounds the answer of a WebSocket peer to a ping. It ends connections that a proxy
	// keeps half open, within a minute of silence.
	pong time.Duration
	// write bounds one frame. A reader may pause for many minutes and is not cut for that. TCP
	// takes about as long to give up a peer that has left.
	write time.Duration
	// request bounds the wait for the first message of an ad-hoc view.
	request time.Duration
	// idle bounds how long a connection for many graphs stays open without one.
	idle time.Duration
	// grace bounds the last message of open streams when the server stops.
	grace time.Duration
}

func defaultTiming() timing {
	return timing{
		heartbeat: 20 * time.Second, pong: 30 * time.Second, write: 15 * time.Minute,
		request: 10 * time.Second, idle: time.Minute, grace: 5 * time.Second,
	}
}
