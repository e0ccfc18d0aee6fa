package watch

import (
	"context"
	"fmt"
	"time"
)

// A chunk of a replay ends with that many objects, or after that time: what was
// found out about its objects is told before more are looked at.
const (
	replayChunk  = 256
	replayPeriod = 5 * time.Millisecond
)

// Look is what a replay does with an object. It may take its time: the Watch goes
// on meanwhile. What it returns, nil for nothing, is called in the Watch's turn,
// and only if the object is still the one that the Watch retains, so whatever it
// tells is told before any change of the object. Neither may keep the Decoded.
type Look func(*Decoded) (tell func())

// Replay looks at every object that is retained now. An object that changes or
// appears meanwhile is told to the Handler, and not to look. Replay ends early
// when ctx or the Watch does, and then returns an error.
func (w *Watch) Replay(ctx context.Context, look Look) error {
	objects, err := w.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("replay %s: %w", w.key, err)
	}
	return w.Revisit(ctx, objects, look)
}

// Revisit is Replay for objects that the Watch had retained at some time.
func (w *Watch) Revisit(ctx context.Context, objects []*Object, look Look) error {
	scratch := getScratch()
	defer putScratch(scratch)
	for len(objects) > 0 {
		n, tells, err := w.look(ctx, objects, scratch, look)
		if err == nil {
			err = w.tell(ctx, objects[:n], tells)
		}
		if err != nil {
			return fmt.Errorf("replay %s: %w", w.key, err)
		}
		objects = objects[n:]
	}
	return nil
}

// snapshot returns what the Watch holds.
func (w *Watch) snapshot(ctx context.Context) ([]*Object, error) {
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	objects := make([]*Object, 0, w.objects.used)
	for o := range w.objects.all {
		objects = append(objects, o)
	}
	return objects, nil
}

// look looks at one chunk of objects. It returns how many these are, and what each
// has to tell.
func (w *Watch) look(ctx context.Context, objects []*Object, scratch *[]byte, look Look) (n int, tells []func(), err error) {
	began := time.Now()
	for _, o := range objects[:min(len(objects), replayChunk)] {
		if err := w.ended(ctx); err != nil {
			return 0, nil, err
		}
		d := Decoded{Object: o, scratch: scratch}
		tells = append(tells, look(&d))
		d = Decoded{}
		if time.Since(began) > replayPeriod {
			break
		}
	}
	return len(tells), tells, nil
}

// tell calls what is to be told of the objects that are still retained.
func (w *Watch) tell(ctx context.Context, objects []*Object, tells []func()) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	for i, o := range objects {
		if err := w.ended(ctx); err != nil {
			return err
		}
		if tells[i] != nil && w.objects.get(o.key()) == o {
			tells[i]()
		}
	}
	return nil
}

func (w *Watch) ended(ctx context.Context) error {
	select {
	case <-w.done:
		return ErrStopped
	default:
		return ctx.Err()
	}
}
