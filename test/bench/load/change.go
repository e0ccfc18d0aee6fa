package load

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// Paced is Each for n changes at a rate: each one begins when it is due, even if others are not
// done, unless a number of them is not.
func Paced(ctx context.Context, n, rate, atOnce int, do func(context.Context, int) error) error {
	group, changing := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	started := time.Now()
	for i := range n {
		due := started.Add(time.Duration(i) * time.Second / time.Duration(rate))
		select {
		case <-time.After(time.Until(due)):
		case <-changing.Done():
			return cmp.Or(group.Wait(), context.Cause(ctx))
		}
		group.Go(func() error { return do(changing, i) })
	}
	return group.Wait()
}

// Numbers visits the numbers of changes in a message: those between a mark and a quotation mark.
func Numbers(text, mark []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for {
			_, after, ok := bytes.Cut(text, mark)
			if !ok {
				return
			}
			number, rest, ok := bytes.Cut(after, []byte(`"`))
			if !ok {
				return
			}
			text = rest
			if n, err := strconv.Atoi(string(number)); err == nil && !yield(n) {
				return
			}
		}
	}
}
