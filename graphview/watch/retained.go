package watch

import (
	"context"
	"fmt"
	"slices"
)

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
