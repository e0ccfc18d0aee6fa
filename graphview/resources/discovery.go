package resources

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Options are the options of a Discovery. Config is required.
type Options struct {
	// Config reaches the API server. Without the right to list and watch
	// CustomResourceDefinitions and APIServices, changes are noticed by polling
	// alone.
	Config *rest.Config

	// Watchable reports whether Config may list and watch a cluster-scoped resource. Nil: it
	// is tried.
	Watchable func(ctx context.Context, group, resource string) bool

	// Logger, if not set, logs nothing.
	Logger logr.Logger

	// PollInterval is the time between two discoveries when nothing moves. It is
	// also the limit of the back-off when discovery fails, which is never above
	// 30 s. 0 means 30 s.
	PollInterval time.Duration
}

// source is what the follower needs of an API server.
type source interface {
	list(context.Context) (listing, error)
	ready(context.Context) error
}

// Discovery follows what the cluster serves.
type Discovery struct {
	source  source
	changes []changes
	log     logr.Logger
	poll    time.Duration

	// moved holds at most one signal: the next discovery answers all of them.
	moved chan struct{}

	mu       sync.Mutex
	current  *Catalog      // nil before the first
	replaced chan struct{} // closed when current is replaced
	looked   chan struct{} // closed after the next discovery
	failure  error         // of the last discovery, nil if it worked
}

// New prepares a Discovery; it makes no request before Run.
func New(o Options) (*Discovery, error) {
	if o.Config == nil {
		return nil, errors.New("discovery: no client configuration")
	}
	config := rest.CopyConfig(o.Config)
	config.Timeout = 0 // It would cut watches; every other request has its own.
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	objects, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	d := newDiscovery(server{client: documents}, o.Logger, o.PollInterval)
	for _, r := range []schema.GroupVersionResource{customResourceDefinitions, apiServices} {
		d.changes = append(d.changes, changes{
			client:   objects,
			resource: r,
			log:      o.Logger.WithValues("resource", r.GroupResource().String()),
			signal:   d.signal,

			watchable: o.Watchable,
		})
	}
	return d, nil
}

// Once discovers what the cluster serves now.
func Once(ctx context.Context, config *rest.Config) (*Catalog, error) {
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	found, err := server{client: documents}.list(ctx)
	if err != nil {
		return nil, err
	}
	return found.succeed(nil), nil
}

func newDiscovery(s source, log logr.Logger, poll time.Duration) *Discovery {
	if poll <= 0 {
		poll = defaultPollInterval
	}
	return &Discovery{
		source:   s,
		log:      log,
		poll:     poll,
		moved:    make(chan struct{}, 1),
		replaced: make(chan struct{}),
		looked:   make(chan struct{}),
	}
}

// Run follows the cluster until ctx ends, then returns nil. It must be called once.
func (d *Discovery) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, c := range d.changes {
		wg.Go(func() { c.run(ctx) })
	}
	d.follow(ctx)
	wg.Wait()
	return nil
}

// Current returns the present catalog, nil before the first, and a channel that
// is closed when a different one takes its place.
func (d *Discovery) Current() (*Catalog, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.current, d.replaced
}

// Wait returns nil once there has been a discovery. When ctx ends, it returns the last
// failure, or the error of ctx.
func (d *Discovery) Wait(ctx context.Context) error {
	for {
		d.mu.Lock()
		current, looked, failure := d.current, d.looked, d.failure
		d.mu.Unlock()
		if current != nil {
			return nil
		}
		select {
		case <-looked:
		case <-ctx.Done():
			if failure != nil {
				return failure
			}
			return ctx.Err()
		}
	}
}

// Looked returns a channel that is closed after the next discovery, whether something
// else was found or not: by then something may have moved that a catalog does not tell.
func (d *Discovery) Looked() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looked
}

// signal says that something moved; it never blocks.
func (d *Discovery) signal() {
	select {
	case d.moved <- struct{}{}:
	default:
	}
}

// follow discovers until ctx ends, at the pace of signals and time.
func (d *Discovery) follow(ctx context.Context) {
	p := newPace(time.Now(), d.poll)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.moved:
			p.signalled(time.Now())
		case <-timer.C:
			ok := d.refresh(ctx)
			p.discovered(time.Now(), ok)
		}
		timer.Reset(time.Until(p.next))
	}
}

// refresh discovers once and publishes what is new. It returns false if
// discovery did not work.
func (d *Discovery) refresh(ctx context.Context) bool {
	previous, _ := d.Current()
	next, err := d.discover(ctx, previous)
	if ctx.Err() != nil {
		return false
	}

	d.mu.Lock()
	repeated := d.failure != nil
	d.failure = err
	close(d.looked)
	d.looked = make(chan struct{})
	changed := err == nil && !next.equal(previous)
	if changed {
		d.current = next
		close(d.replaced)
		d.replaced = make(chan struct{})
	}
	d.mu.Unlock()

	switch {
	case err != nil && repeated:
		d.log.V(1).Info("discovery does not work yet", "reason", err.Error())
	case err != nil:
		d.log.Error(err, "discovery does not work, what was known stays")
	case changed:
		d.log.Info("discovered resources", "resources", len(next.resources), "failed", failedVersions(next))
	}
	return err == nil
}

// discover returns the catalog that follows previous. Where something would be
// lost it makes sure, because a server that has just started does not know all
// of its resources yet.
func (d *Discovery) discover(ctx context.Context, previous *Catalog) (*Catalog, error) {
	l, err := d.source.list(ctx)
	if err != nil {
		return nil, err
	}
	next := l.succeed(previous)
	if !next.lacks(previous) {
		return next, nil
	}
	if err := d.source.ready(ctx); err != nil {
		return nil, err
	}
	if l, err = d.source.list(ctx); err != nil {
		return nil, err
	}
	return l.succeed(previous), nil
}

func failedVersions(c *Catalog) []string {
	out := make([]string, 0, len(c.failed))
	for _, f := range c.failed {
		out = append(out, schema.GroupVersion{Group: f.Group, Version: f.Version}.String())
	}
	return out
}
