package watch

import (
	"context"
	"fmt"
	"sync"
)

// replayChunk is how many objects Replay visits before the Watch may go on.
const replayChunk = 256

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
func (l *Lease) Release() { l.once.Do(func() { l.manager.release(l.watch) }) }

// Replay visits every object that is retained now, each as it is when it is
// visited. It does so in chunks, under the Watch's lock, so what happens in
// between is told to the Handler, before or after but never during a visit: an
// object that appears meanwhile is not visited, one that changes may be both
// visited and set. It ends early when ctx or the Watch does, and then returns
// an error.
func (l *Lease) Replay(ctx context.Context, visit func(*Decoded)) error {
	return l.watch.Replay(ctx, visit)
}

// Replay is that of a Lease, for who follows the Watch without one.
func (w *Watch) Replay(ctx context.Context, visit func(*Decoded)) error {
	names, err := w.names(ctx)
	if err != nil {
		return fmt.Errorf("replay %s: %w", w.key, err)
	}
	scratch := getScratch()
	defer putScratch(scratch)
	for len(names) > 0 {
		n := min(len(names), replayChunk)
		if err := w.visit(ctx, names[:n], scratch, visit); err != nil {
			return fmt.Errorf("replay %s: %w", w.key, err)
		}
		names = names[n:]
	}
	return nil
}

func (w *Watch) names(ctx context.Context) ([]name, error) {
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	names := make([]name, 0, w.objects.used)
	for o := range w.objects.all {
		names = append(names, o.key())
	}
	return names, nil
}

func (w *Watch) visit(ctx context.Context, names []name, scratch *[]byte, visit func(*Decoded)) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	for _, key := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-w.done:
			return ErrStopped
		default:
		}
		if o := w.objects.get(key); o != nil {
			d := Decoded{Object: o, scratch: scratch}
			visit(&d)
			d = Decoded{}
		}
	}
	return nil
}
