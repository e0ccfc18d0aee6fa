package watch

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"graphview.dev/graphview/budget"
)

// Watch lists and watches the objects of one Key while there is a Lease of it.
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

	// turn is the lock. Its holder has put a value into the channel. Unlike with a mutex, a
	// goroutine can stop waiting when its context ends, and goroutines get the lock in order, so
	// that Retained does not wait for a whole list.
	turn chan struct{}

	// Guarded by turn.
	objects    shelf
	invalid    map[name]uint32 // generation of the last list or event
	generation uint32
	codec      *codec
	event      Decoded
	// payer is Options.Namespaces for a Watch that users share, else nil. unpaid has the bytes that the
	// objects without content would hold.
	payer  *budget.Namespaces
	unpaid map[name]int

	count, bytes atomic.Int64
	// stateMu is taken last. Its holder calls no Handler and does not block.
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
		unpaid:  make(map[name]int),
		state:   State{Reason: Pending},
	}
	w.handler = handle(w)
	return w
}

// ID returns a number that is unique within the Manager. Two Watches that had the
// same Key one after the other have different IDs.
func (w *Watch) ID() uint32 { return w.id }

// Key returns the canonical form of the key that was passed to Acquire.
func (w *Watch) Key() Key { return w.key }

// State returns the current state. It never waits for a Handler.
func (w *Watch) State() State {
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	s := w.state
	s.Objects, s.Bytes = int(w.count.Load()), w.bytes.Load()
	return s
}

// run lists and watches until ctx ends, and waits for all goroutines that it started.
func (w *Watch) run(ctx context.Context, c *client, o Options) {
	defer close(w.done)
	lw := &listWatcher{ctx: ctx, watch: w, client: c, idle: o.ListIdleTimeout, retry: newRetry(o.Retry), message: messageOf(w.key)}
	if w.key.Reduced {
		lw.reduce = o.Reduce
	}
	defer w.refund()
	defer lw.join()
	// setStateLocked logs each failure once, so the reflector does not log.
	silent := logr.Discard()
	cache.NewReflectorWithOptions(lw, nil, &store{ctx: ctx, watch: w}, cache.ReflectorOptions{
		Name:            w.key.String(),
		TypeDescription: w.key.Resource.String(),
		Logger:          &silent,
		Backoff:         lw.retry.first(),
	}).RunWithContext(logr.NewContext(ctx, silent))
}

// stop ends the Watch and waits for it.
func (w *Watch) stop() {
	w.cancel()
	<-w.done
}

// lock takes the Watch's lock, unless ctx ends first.
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

// setStateLocked sets the state. If it differs, it logs and notifies the Handler.
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

// Handler receives the events of one Watch. Its methods are called one at a time,
// from the Watch's goroutines. They may block, which slows the Watch down. The
// package documentation lists the calls that they must not make. The engine's Handler is intake.Feed.
type Handler interface {
	// Set is called when an object is new, or its retained JSON changed in more than its
	// resourceVersion. If it was deleted and created again between two lists, it has a new UID
	// and there was no Delete.
	Set(o *Decoded)
	// VersionOnly is called when an object has another resourceVersion but the content of the last
	// Set. In between it may have had other content, which other Watches may have seen.
	VersionOnly(o *Object)
	// Delete is called when the object is deleted, no longer selected, or forbidden.
	Delete(o *Object)
	// Invalid is called when an object is not usable. The retained object stays. A nil err means that
	// the object is now valid or deleted. name is empty if the object has no name.
	Invalid(namespace, name string, err error)
	// State is called when the state changes, see State.Objects for the exceptions.
	State(s State)
}

// Retained returns all objects that are retained now, in no particular order. When an object
// changes, Object.Retained becomes false before the Handler is called.
func (w *Watch) Retained(ctx context.Context) ([]*Object, error) {
	if err := w.lock(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", w.key, err)
	}
	defer w.unlock()
	return slices.AppendSeq(make([]*Object, 0, w.objects.used), w.objects.all), nil
}

// Find returns the objects of the given namespaces and names that are retained now. The Handler has been
// called with them.
func (w *Watch) Find(ctx context.Context, names iter.Seq2[string, string]) (objects []*Object, err error) {
	if err := w.lock(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", w.key, err)
	}
	defer w.unlock()
	for namespace, of := range names {
		if o := w.objects.get(name{unique.Make(namespace), of}); o != nil {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// Visit calls look with each of the objects, which may be outdated. look must not keep
// the Decoded. It may take long, because Visit does not hold the Watch's lock. Visit ends
// early if look returns false. It returns the number of objects that look was called with,
// and an error if ctx or the Watch ends.
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
