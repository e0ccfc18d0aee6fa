package resources

import (
	"context"
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
	// Config is for requests to the API server. If it may not list and watch
	// CustomResourceDefinitions and APIServices, Discovery notices changes only by
	// polling.
	Config *rest.Config

	// Watchable reports whether Config may list and watch a cluster-scoped resource. If it is
	// nil, the watch is attempted.
	Watchable func(ctx context.Context, group, resource string) bool

	// Logger may be left out.
	Logger logr.Logger

	// PollInterval is the time between two discoveries while nothing changes. It is
	// also the limit of the back-off after a failed discovery, but that is at most
	// 30 s. 0 means 30 s.
	PollInterval time.Duration
}

// Discovery keeps a Catalog of the resources that the cluster serves up to date.
type Discovery struct {
	server  server
	changes []*changeWatcher
	log     logr.Logger
	poll    time.Duration

	// signals holds at most one signal, because one discovery serves all of them.
	signals chan struct{}

	mu            sync.Mutex
	current       *Catalog      // nil before the first catalog
	replaced      chan struct{} // closed when current is replaced
	nextDiscovery chan struct{} // closed after the next discovery, also if it failed
	failure       error         // of the last discovery, nil if it worked
}

// New returns a Discovery. It makes no request before Run.
func New(o Options) (*Discovery, error) {
	config := rest.CopyConfig(o.Config)
	config.Timeout = 0 // It would end watches early; every other request has its own.
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
		d.changes = append(d.changes, &changeWatcher{
			discovery: d,
			client:    objects,
			resource:  r,
			log:       o.Logger.WithValues("resource", r.GroupResource().String()),
			watchable: o.Watchable,
		})
	}
	return d, nil
}

// Once discovers the resources that the cluster serves now.
func Once(ctx context.Context, config *rest.Config) (*Catalog, error) {
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	found, err := server{client: documents}.list(ctx)
	if err != nil {
		return nil, err
	}
	return found.catalogAfter(nil), nil
}

func newDiscovery(s server, log logr.Logger, poll time.Duration) *Discovery {
	if poll <= 0 {
		poll = defaultPollInterval
	}
	return &Discovery{
		server:        s,
		log:           log,
		poll:          poll,
		signals:       make(chan struct{}, 1),
		replaced:      make(chan struct{}),
		nextDiscovery: make(chan struct{}),
	}
}

// Run keeps the catalog up to date until ctx ends, then returns nil. It must be called once.
func (d *Discovery) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, c := range d.changes {
		wg.Go(func() { c.run(ctx) })
	}
	d.follow(ctx)
	wg.Wait()
	return nil
}

// Current returns the current catalog, nil before the first discovery, and a channel
// that is closed when a different catalog replaces it.
func (d *Discovery) Current() (*Catalog, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.current, d.replaced
}

// Wait returns nil after the first successful discovery. If ctx ends before, it returns the
// error of the last discovery, or ctx's if none has failed.
func (d *Discovery) Wait(ctx context.Context) error {
	for {
		d.mu.Lock()
		current, looked, failure := d.current, d.nextDiscovery, d.failure
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

// NextDiscovery returns a channel that is closed after the next discovery, even if the catalog is the
// same. The caller can then look for changes that are not in a catalog, such as of schemas.
func (d *Discovery) NextDiscovery() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nextDiscovery
}

// signal requests a discovery. It never blocks.
func (d *Discovery) signal() {
	select {
	case d.signals <- struct{}{}:
	default:
	}
}

// follow discovers until ctx ends, when the schedule says so.
func (d *Discovery) follow(ctx context.Context) {
	p := newSchedule(time.Now(), d.poll)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.signals:
			p.signalled(time.Now())
		case <-timer.C:
			ok := d.refresh(ctx)
			p.discovered(time.Now(), ok)
		}
		timer.Reset(time.Until(p.next))
	}
}

// refresh discovers once and publishes the catalog if it differs. It reports whether
// discovery succeeded.
func (d *Discovery) refresh(ctx context.Context) bool {
	previous, _ := d.Current()
	next, err := d.discover(ctx, previous)
	if ctx.Err() != nil {
		return false
	}

	d.mu.Lock()
	repeated := d.failure != nil
	d.failure = err
	close(d.nextDiscovery)
	d.nextDiscovery = make(chan struct{})
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

// discover returns the catalog that replaces previous. If it would lack a resource,
// discover asks whether the server is ready and discovers again, because a server that
// has just started does not serve all of its resources yet.
func (d *Discovery) discover(ctx context.Context, previous *Catalog) (*Catalog, error) {
	l, err := d.server.list(ctx)
	if err != nil {
		return nil, err
	}
	next := l.catalogAfter(previous)
	if !next.lacks(previous) {
		return next, nil
	}
	if err := d.server.ready(ctx); err != nil {
		return nil, err
	}
	if l, err = d.server.list(ctx); err != nil {
		return nil, err
	}
	return l.catalogAfter(previous), nil
}

func failedVersions(c *Catalog) []string {
	out := make([]string, 0, len(c.failed))
	for _, f := range c.failed {
		out = append(out, schema.GroupVersion{Group: f.Group, Version: f.Version}.String())
	}
	return out
}
