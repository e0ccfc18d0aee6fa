package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// ErrStopped says that the Manager, or the Watch, has ended.
var ErrStopped = errors.New("watch has stopped")

var (
	errNoConfig = errors.New("options without Config")
	errRunning  = errors.New("manager runs already")
	errNoReduce = errors.New("options without Reduce")
)

// Reduce makes the JSON of what may be retained of an object of its JSON.
type Reduce func(ctx context.Context, namespace, name string, version uint64, object []byte) ([]byte, error)

// Options of a Manager. Config is required.
type Options struct {
	// Config says how to reach the API server. Its limits on requests, its
	// time-out and its warnings are not used. Compression of lists, which
	// costs time on a fast network and saves it on a slow one, is
	// DisableCompression's.
	Config *rest.Config
	// Reduce is what Keys that are Reduced need: it takes the JSON of an object
	// and returns that of what may be retained of it, which Decoded.Tree has as
	// the member "reduced". It is called by many goroutines, and may keep neither.
	// An error makes the object an invalid one.
	Reduce Reduce
	// Logger is told when a Watch falls behind and when it has caught up.
	Logger logr.Logger
	// Lists is how many lists are read at once, 16 by default.
	Lists int
	// ListIdleTimeout is how long a list may go without a byte from the
	// server, 60 s by default. It has no limit as a whole.
	ListIdleTimeout time.Duration
	// Retry is how long to wait after failures, by default from 0.8 s to
	// between 20 and 30 s. It starts over after a watch that lasted as long as
	// the last of these waits, or 2 s.
	Retry wait.Backoff
}

func (o Options) withDefaults() (Options, error) {
	if o.Config == nil {
		return o, errNoConfig
	}
	if o.Lists <= 0 {
		o.Lists = 16
	}
	if o.ListIdleTimeout <= 0 {
		o.ListIdleTimeout = time.Minute
	}
	if o.Retry.Duration <= 0 {
		o.Retry = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 20 * time.Second}
	}
	return o, nil
}

// Manager starts, shares and stops Watches. Its methods may be called from any
// goroutine.
type Manager struct {
	options Options
	client  *client
	// started is closed by Run, which sets ctx before.
	started chan struct{}
	ctx     context.Context //nolint:containedctx // Run's: the life of every Watch
	running sync.WaitGroup

	mu      sync.Mutex
	ran     bool
	stopped bool
	lastID  uint32
	watches map[Key]*Watch
}

// NewManager does not start anything yet.
func NewManager(o Options) (*Manager, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := newClient(o.Config, o.Lists)
	if err != nil {
		return nil, err
	}
	return &Manager{options: o, client: c, started: make(chan struct{}), watches: make(map[Key]*Watch)}, nil
}

// Run lets Watches run until ctx ends, and returns when the last has. It may
// be called once.
func (m *Manager) Run(ctx context.Context) error {
	m.mu.Lock()
	if m.ran {
		m.mu.Unlock()
		return errRunning
	}
	m.ran = true
	m.ctx = ctx
	close(m.started)
	m.mu.Unlock()

	<-ctx.Done()
	m.mu.Lock()
	m.stopped = true
	clear(m.watches)
	m.mu.Unlock()
	m.running.Wait()
	m.client.close()
	return nil
}

// Acquire leases the Watch of key. If there is none, it starts one for the Handler
// that handle makes, which may not call the Manager. It waits for Run to have
// begun, not for the Watch to have synced. The caller has to release the lease, even after
// ctx or the Manager has ended.
func (m *Manager) Acquire(ctx context.Context, key Key, handle func(*Watch) Handler) (*Lease, error) {
	canonical, err := key.canonical()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", key, err)
	}
	if key.Reduced && m.options.Reduce == nil {
		return nil, fmt.Errorf("watch %s: %w", key, errNoReduce)
	}
	select {
	case <-m.started:
	case <-ctx.Done():
		return nil, fmt.Errorf("watch %s: %w", key, ctx.Err())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped || m.ctx.Err() != nil {
		return nil, fmt.Errorf("watch %s: %w", key, ErrStopped)
	}
	w, ok := m.watches[canonical]
	if !ok {
		w = m.startLocked(canonical, handle)
	}
	w.leases++
	return &Lease{manager: m, watch: w}, nil
}

// Len is how many Watches run.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watches)
}

// ListsEndedEarly is how many lists, and pages of lists, ended before their time.
func (m *Manager) ListsEndedEarly() uint64 { return m.client.endedEarly.Load() }

func (m *Manager) startLocked(key Key, handle func(*Watch) Handler) *Watch {
	m.lastID++
	w := newWatch(m.lastID, key, handle, m.options.Logger.WithValues("watch", key.String(), "id", m.lastID))
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(m.ctx)
	m.watches[key] = w
	m.running.Go(func() { w.run(ctx, m.client, m.options) })
	return w
}

// release gives back one lease of w. A new Watch of the same key may start
// while this one is still being stopped: they have nothing in common.
func (m *Manager) release(w *Watch) {
	m.mu.Lock()
	w.leases--
	last := w.leases == 0
	if last && m.watches[w.key] == w {
		delete(m.watches, w.key)
	}
	m.mu.Unlock()
	if last {
		w.stop()
	}
}

// Lease keeps a Watch running.
type Lease struct {
	manager *Manager
	watch   *Watch
	once    sync.Once
}

// Watch is what the lease is of.
func (l *Lease) Watch() *Watch { return l.watch }

// Release gives the lease back; only the first call does anything. The last
// lease's Release stops the Watch and waits for its goroutines: when it has
// returned, there are no more calls of the Handler for it. It may not be
// called from within one.
func (l *Lease) Release() {
	l.once.Do(func() { l.manager.release(l.watch) })
}
