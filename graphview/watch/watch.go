package watch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"
)

// Watch follows one Key for as long as there is a Lease of it.
type Watch struct {
	id      uint32
	key     Key
	handler Handler
	log     logr.Logger
	// leases is guarded by the Manager's lock.
	leases int
	cancel context.CancelFunc
	// done is closed when the last goroutine has ended.
	done chan struct{}

	// turn is the lock. The holder has put a value into the channel. Unlike a mutex, a
	// goroutine can stop waiting for it, and it is granted in order, so that Retained and a list
	// take turns.
	turn chan struct{}

	// Guarded by turn.
	objects    shelf
	invalid    map[name]uint32 // generation of the last sight
	generation uint32
	codec      *codec
	event      Decoded

	// extent is that of a Partial Watch, nil for any other.
	extent  *extent
	listing listing

	count, bytes atomic.Int64
	// stateMu is taken last and never while calling anything.
	stateMu sync.Mutex
	state   State
}

// name identifies an object within a Watch.
type name struct {
	namespace unique.Handle[string]
	name      string
}

func newWatch(id uint32, key Key, handle func(*Watch) Handler, log logr.Logger) *Watch {
	w := &Watch{
		id: id, key: key, log: log,
		done:    make(chan struct{}),
		turn:    make(chan struct{}, 1),
		invalid: make(map[name]uint32),
		state:   State{Reason: Pending},
	}
	if key.Partial {
		w.extent = newExtent()
	}
	w.handler = handle(w)
	return w
}

// ID is unique within the Manager: of two Watches that had the same Key one
// after the other, each has its own.
func (w *Watch) ID() uint32 { return w.id }

// Key is the canonical form of what was given to Acquire.
func (w *Watch) Key() Key { return w.key }

// State never waits for a Handler.
func (w *Watch) State() State {
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	s := w.state
	s.Objects, s.Bytes = int(w.count.Load()), w.bytes.Load()
	return s
}

// run follows the resource until ctx ends, and joins what it has started.
func (w *Watch) run(ctx context.Context, c *client, o Options) {
	defer close(w.done)
	source := &source{ctx: ctx, watch: w, client: c, idle: o.ListIdleTimeout, retry: newRetry(o.Retry)}
	if w.key.Reduced {
		source.reduce = func(d *document, object []byte) ([]byte, error) {
			return o.Reduce(ctx, string(d.namespace), string(d.name), d.number(), object)
		}
	}
	defer source.join()
	// State reports once what the reflector would log, see setStateLocked.
	silent := logr.Discard()
	cache.NewReflectorWithOptions(source, nil, &store{ctx: ctx, watch: w}, cache.ReflectorOptions{
		Name:            w.key.String(),
		TypeDescription: w.key.Resource.String(),
		Logger:          &silent,
		Backoff:         source.retry.first(),
	}).RunWithContext(logr.NewContext(ctx, silent))
}

// stop ends the Watch and waits for it.
func (w *Watch) stop() {
	w.cancel()
	<-w.done
}

// lock takes the Watch's turn, unless ctx ends first.
func (w *Watch) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *Watch) unlock() { <-w.turn }

// setStateLocked changes the state and tells the Handler.
func (w *Watch) setStateLocked(next State) {
	w.stateMu.Lock()
	changed := !w.state.same(next)
	w.state = next
	w.stateMu.Unlock()
	if !changed {
		return
	}
	next.Objects, next.Bytes = int(w.count.Load()), w.bytes.Load()
	if next.Err != nil {
		w.log.Info("watch is not up to date", "reason", next.Reason, "synced", next.Synced, "cause", next.Err.Error())
	} else {
		w.log.V(1).Info("watch is up to date", "objects", next.Objects)
	}
	w.handler.State(next)
}

func (w *Watch) currentState() State {
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	return w.state
}

// Handler is told what one Watch sees. The calls come one at a time, from the
// Watch's own goroutines. Any of them may block and so slow the Watch down; see
// the package documentation for what they may not do.
type Handler interface {
	// Set: the object appeared, or changed in more than its resourceVersion
	// and managedFields. If it was deleted and created again between two lists, it has a new UID
	// and there was no Delete.
	Set(o *Decoded)
	// VersionOnly: the object has another resourceVersion and the content of the last Set. In between it
	// may have had other content, which other Watches saw.
	VersionOnly(o *Object)
	// Delete: the object is gone, no longer selected, or may no longer be
	// read.
	Delete(o *Object)
	// Invalid: an object cannot be decoded. The retained object stays. A nil err means that the
	// object is valid or deleted. Both names are empty if the object has no name.
	Invalid(namespace, name string, err error)
	// Namespaces are those whose objects a Partial Watch retains. The Watch asks when a list
	// begins, keeps the map until the next list, and reports it in State once the list is
	// complete.
	Namespaces() map[string]bool
	// State: the state changed, in anything but Objects and Bytes; or Bytes have doubled.
	State(s State)
}

// Retained returns every object that is retained now, in no order. When an object changes,
// Object.Retained becomes false before the Handler is called.
func (w *Watch) Retained(ctx context.Context) ([]*Object, error) {
	if err := w.lock(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", w.key, err)
	}
	defer w.unlock()
	return slices.AppendSeq(make([]*Object, 0, w.objects.used), w.objects.all), nil
}

// Visit shows objects that were retained at some time, one after the other, to look,
// which may not keep the Decoded and may take its time: the Watch goes on meanwhile.
// Visit ends early when look returns false. It returns how many objects it has shown,
// and an error when ctx or the Watch ends.
func (w *Watch) Visit(ctx context.Context, objects []*Object, look func(*Decoded) (more bool)) (n int, err error) {
	scratch := getScratch()
	defer putScratch(scratch)
	for i, o := range objects {
		if err := w.ended(ctx); err != nil {
			return i, fmt.Errorf("%s: %w", w.key, err)
		}
		d := Decoded{Object: o, scratch: scratch}
		more := look(&d)
		d = Decoded{}
		if !more {
			return i + 1, nil
		}
	}
	return len(objects), nil
}

func (w *Watch) ended(ctx context.Context) error {
	select {
	case <-w.done:
		return ErrStopped
	default:
		return ctx.Err()
	}
}
