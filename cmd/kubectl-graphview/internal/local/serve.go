package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/history"
	"graphview.dev/stream"
)

const (
	// connectWithin bounds the wait for a server that does not answer.
	connectWithin = 10 * time.Second
	// rightsInterval is twice the time after which rights are asked for again.
	rightsInterval = 10 * time.Minute
	// collectAt is the percentage by which the heap grows before it is collected. The graph is in this
	// process twice, in the engine and in its client, and a laptop has more processor than memory to spare.
	collectAt = 50
)

// viewUID is the UID of the only view.
const viewUID = "local"

// Options of With. Config and Rights are required.
type Options struct {
	// Config has the address of the API server and the user's credentials.
	Config *rest.Config
	Rights *Rights
	// View is the name of the one view.
	View graphview.Name
	// Spec is that of the view. Nil: there is no view, for ad-hoc views alone.
	Spec *v1alpha1.GraphViewSpec
	// Rules are ReferenceRules, by name.
	Rules map[string]v1alpha1.ReferenceRuleSpec
	// WithoutHealth leaves the health of objects unknown, for those of manifests.
	WithoutHealth bool
	// SyncTimeout is the time for which the view waits for a resource. 0 means 30 s.
	SyncTimeout time.Duration
	// Logger receives the logs of the engine. The zero value is silent.
	Logger logr.Logger
}

// Cluster serves the graphs of a cluster in this process.
type Cluster struct {
	engine *graphview.Engine
	view   graphview.Name
	config *rest.Config
}

// Config reaches the graphs, and nothing else.
func (c *Cluster) Config() *rest.Config { return c.config }

// Status returns the status of the view.
func (c *Cluster) Status() graphview.Status {
	status, _ := c.engine.Status(c.view)
	return status
}

// Apply changes the spec of the view.
func (c *Cluster) Apply(ctx context.Context, of v1alpha1.GraphViewSpec) error {
	return c.engine.Apply(ctx, c.view, viewUID, of)
}

// ConnectError says that the API server does not answer, or refuses the credentials.
type ConnectError struct {
	Host string
	Err  error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %s", e.Host, e.Err) }

// Unwrap returns Err.
func (e *ConnectError) Unwrap() error { return e.Err }

// Connect asks the server something that every user may ask. Its error is a *ConnectError.
func (r *Rights) Connect(ctx context.Context, config *rest.Config) error {
	asking, cancel := context.WithTimeoutCause(ctx, connectWithin, fmt.Errorf("no answer within %s", connectWithin))
	defer cancel()
	if _, err := r.Everything(asking); err != nil {
		if about, ok := errors.AsType[*url.Error](err); ok {
			err = about.Err // without a long URL
		}
		if cause := context.Cause(asking); cause != nil {
			err = cause
		}
		return &ConnectError{Host: config.Host, Err: err}
	}
	return nil
}

// With calls use while the graphs are served, and returns when all has ended. The context of use ends
// when the graphs are no longer served.
func With(ctx context.Context, o Options, use func(context.Context, *Cluster) error) error {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	}
	engine, err := graphview.NewEngine(graphview.Options{
		Config: configFor(o.Config), Logger: o.Logger, Own: sole, Review: o.Rights.Review, RightsInterval: rightsInterval, SyncTimeout: o.SyncTimeout,
		WithoutHealth: o.WithoutHealth, History: history.NewLog(history.Options{}),
	})
	if err != nil {
		return err
	}
	for name, rule := range o.Rules {
		if err := engine.ApplyRule(ctx, name, rule); err != nil {
			return fmt.Errorf("ReferenceRule %s: %w", name, err)
		}
	}
	if o.Spec != nil {
		if err := engine.Apply(ctx, o.View, viewUID, *o.Spec); err != nil {
			return err
		}
	}
	pipe := stream.NewPipe()
	server, err := stream.New(stream.Options{
		Cluster: stream.Of(engine), Sole: sole, Listener: pipe, SyncTimeout: o.SyncTimeout, PermissionRecheck: rightsInterval, Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- stream.Outliving(engine.Run, server.Run)(serving)
	}()
	err = waitAndUse(serving, engine, &Cluster{engine: engine, view: o.View, config: configOf(pipe)}, o.Config.Host, use)
	stop()
	return errors.Join(err, <-served)
}

func waitAndUse(ctx context.Context, engine *graphview.Engine, c *Cluster, host string, use func(context.Context, *Cluster) error) error {
	discovering, cancel := context.WithTimeoutCause(ctx, connectWithin, fmt.Errorf("no answer within %s", connectWithin))
	defer cancel()
	if err := engine.WaitDiscovered(discovering); err != nil {
		return &ConnectError{Host: host, Err: err}
	}
	return use(ctx, c)
}

// configFor returns the user's configuration for lists, watches and reviews. A limit of requests or of
// their duration would slow these down or cut them.
func configFor(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Timeout, config.WarningHandler = -1, 0, rest.NoWarnings{}
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent() // for audit logs, also of watches
	}
	return config
}

// configOf returns a configuration that reaches a pipe, whatever proxy the environment names.
func configOf(pipe *stream.Pipe) *rest.Config {
	return &rest.Config{
		Host: "http://local", Dial: pipe.Dial, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, QPS: -1,
	}
}
