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

	"graphview.dev/graphview/budget"
)

// ErrStopped means that the Manager or the Watch has stopped.
var ErrStopped = errors.New("watch has stopped")

var (
	errRunning  = errors.New("manager runs already")
	errNoReduce = errors.New("options without Reduce")
)

// Reduce takes the JSON of an object and returns the JSON that may be retained.
type Reduce func(object []byte) []byte

// Options of a Manager. Config is required.
type Options struct {
	// Config is for requests to the API server. Its rate limits, its time-out
	// and its warning handlers are not used. DisableCompression turns off the
	// compression of responses, which costs time on a fast network and saves
	// time on a slow one.
	Config *rest.Config
	// Reduce is required for Keys that are Reduced. Its result is the member
	// "reduced" of Decoded.Tree. It is called by many goroutines, and must keep
	// neither its argument nor its result. If it panics, the object is invalid, see
	// Handler.Invalid.
	Reduce Reduce
	// Namespaces pay for the objects of the Watches that users share. An object for which its namespace may
	// not pay is retained without its content. If Namespaces is nil, all objects have their content.
	Namespaces *budget.Namespaces
	// Logger logs when a Watch is no longer up to date and when it is again.
	Logger logr.Logger
	// Lists is how many lists are read at the same time, 16 by default.
	Lists int
	// ListIdleTimeout is how long a list may wait for the next byte from the
	// server, 60 s by default. The list as a whole has no time limit.
	ListIdleTimeout time.Duration
	// Retry is the back-off after failures, by default from 0.8 s to between
	// 20 and 30 s. It starts over after a watch that lasted as long as the
	// last delay, or 2 s if that is shorter.
	Retry wait.Backoff
}

func (o Options) withDefaults() Options {
	if o.Lists <= 0 {
		o.Lists = 16
	}
	if o.ListIdleTimeout <= 0 {
		o.ListIdleTimeout = time.Minute
	}
	if o.Retry.Duration <= 0 {
		o.Retry = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 20 * time.Second}
	}
	return o
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

// NewManager returns a Manager. It starts nothing before Run.
func NewManager(o Options) (*Manager, error) {
	o = o.withDefaults()
	c, err := newClient(o.Config, o.Lists)
	if err != nil {
		return nil, err
	}
	return &Manager{options: o, client: c, started: make(chan struct{}), watches: make(map[Key]*Watch)}, nil
}

// Run lets Watches run until ctx ends, and returns when the last Watch has
// ended. It may be called once.
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

// Acquire leases the Watch of key. If there is none, it starts one with the Handler
// that handle returns. handle must not call the Manager. Acquire waits until Run has
// been called, but not until the Watch has synced. The caller must release the lease,
// even after ctx or the Manager has ended.
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

// Len returns the number of Watches that run.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watches)
}

// ListsEndedEarly returns how many lists, and pages of lists, ended early.
func (m *Manager) ListsEndedEarly() uint64 { return m.client.endedEarly.Load() }

// ProtobufFallbacks returns how many Watches could not read an answer in Protobuf, and read JSON since.
func (m *Manager) ProtobufFallbacks() uint64 { return m.client.fellBack.Load() }

func (m *Manager) startLocked(key Key, handle func(*Watch) Handler) *Watch {
	m.lastID++
	w := newWatch(m.lastID, key, handle, m.options.Logger.WithValues("watch", key.String(), "id", m.lastID))
	if key.shared() {
		w.payer = m.options.Namespaces
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(m.ctx)
	m.watches[key] = w
	m.running.Go(func() { w.run(ctx, m.client, m.options) })
	return w
}

// release ends one lease of w. A new Watch of the same key may start while w is
// still stopping, because they share no state.
func (m *Manager) release(w *Watch) (last bool) {
	m.mu.Lock()
	w.leases--
	last = w.leases == 0
	if last && m.watches[w.key] == w {
		delete(m.watches, w.key)
	}
	m.mu.Unlock()
	if last {
		w.stop()
	}
	return last
}

// Lease keeps a Watch running.
type Lease struct {
	manager *Manager
	watch   *Watch
	once    sync.Once
}

// Watch returns the leased Watch.
func (l *Lease) Watch() *Watch { return l.watch }

// Leases returns the number of leases of the Watch, with this one.
func (l *Lease) Leases() int {
	l.manager.mu.Lock()
	defer l.manager.mu.Unlock()
	return l.watch.leases
}

// Release ends the lease, and reports whether it was the last one. Only the first call has an effect. The
// Release of the last lease stops the Watch and waits for its goroutines, so the Handler is not
// called after it has returned. It must not be called from within a call of the
// Handler.
func (l *Lease) Release() (last bool) {
	l.once.Do(func() { last = l.manager.release(l.watch) })
	return last
}
