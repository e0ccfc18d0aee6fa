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

// Paced calls do n times at a rate. A call begins when it is due, unless atOnce calls are still
// running.
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

// Numbers returns the numbers of changes in a message: the numbers between a mark and a quotation mark.
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
