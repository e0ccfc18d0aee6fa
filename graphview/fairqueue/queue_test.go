package fairqueue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/budget"
)

var shop, bank = budget.NamespaceOwner("shop"), budget.NamespaceOwner("bank")

// line runs waiters one at a time and notes the order of their turns.
type line struct {
	t     *testing.T
	queue *Queue
	order []string
	ended sync.WaitGroup
}

// wait has n callers of a part of an owner, all of one name, wait for a turn each, which takes a second. It must be
// called in a synctest bubble.
func (l *line) wait(name string, owner budget.Owner, part string, n int) {
	for range n {
		l.ended.Go(func() {
			turn, err := l.queue.AcquirePart(l.t.Context(), owner, part)
			if err != nil {
				l.t.Error(err)
			}
			l.order = append(l.order, name) // one turn at a time: no race
			time.Sleep(time.Second)
			turn.Release()
		})
		synctest.Wait()
	}
}

// finish lets all turns end, and returns their order.
func (l *line) finish() []string {
	l.ended.Wait()
	if n := len(l.queue.owners); n > 0 || l.queue.held > 0 {
		l.t.Errorf("%d owners are remembered, %d turns are held", n, l.queue.held)
	}
	return l.order
}

func TestOwnersTakeTurns(t *testing.T) {
	for name, test := range map[string]struct {
		wait func(l *line)
		want []string
	}{
		"a late owner waits for one turn of an owner with many callers": {
			wait: func(l *line) { l.wait("shop", shop, "", 4); l.wait("bank", bank, "", 2) },
			want: []string{"shop", "shop", "bank", "shop", "bank", "shop"},
		},
		"callers of one owner keep their order": {
			wait: func(l *line) {
				l.wait("first", shop, "", 1)
				l.wait("second", shop, "", 1)
				l.wait("third", shop, "", 1)
			},
			want: []string{"first", "second", "third"},
		},
		"parts of one owner take turns": {
			wait: func(l *line) {
				l.wait("a", shop, "a", 4)
				l.wait("b", shop, "b", 2)
				l.wait("c", shop, "c", 1)
				l.wait("b", shop, "b", 1)
			},
			want: []string{"a", "a", "b", "c", "a", "b", "a", "b"},
		},
		"parts of an owner have the turns of one owner": {
			wait: func(l *line) {
				l.wait("a", shop, "a", 3)
				l.wait("b", shop, "b", 1)
				l.wait("bank", bank, "", 2)
			},
			want: []string{"a", "a", "bank", "b", "bank", "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &line{t: t, queue: New(Options{AtOnce: 1})}
				test.wait(l)
				if got := l.finish(); !slices.Equal(got, test.want) {
					t.Errorf("turns: %v, want %v", got, test.want)
				}
			})
		})
	}
}

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		owners  []budget.Owner // of ten callers each
		want    int            // turns that begin at once
	}{
		"no limit":      {owners: []budget.Owner{shop}, want: 10},
		"at once":       {options: Options{AtOnce: 3}, owners: []budget.Owner{shop, bank}, want: 3},
		"per owner":     {options: Options{PerOwner: 2}, owners: []budget.Owner{shop, bank}, want: 4},
		"per second":    {options: Options{PerSecond: 5}, owners: []budget.Owner{shop, bank}, want: 5},
		"all of them":   {options: Options{AtOnce: 9, PerOwner: 4, PerSecond: 7}, owners: []budget.Owner{shop, bank}, want: 7},
		"the least one": {options: Options{AtOnce: 9, PerOwner: 4, PerSecond: 7}, owners: []budget.Owner{shop}, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, ctx := New(test.options), t.Context()
				var ended sync.WaitGroup
				for _, owner := range test.owners {
					for range 10 {
						ended.Go(func() {
							turn, err := q.Acquire(ctx, owner)
							if err != nil {
								t.Error(err)
							}
							time.Sleep(time.Minute)
							turn.Release()
						})
					}
				}
				synctest.Wait()
				if began := 10*len(test.owners) - q.Waiting(); began != test.want {
					t.Errorf("%d turns began, want %d", began, test.want)
				}
				ended.Wait()
			})
		})
	}
}

// A caller that gives up leaves no turn behind, and takes none.
func TestCallersGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{AtOnce: 1})
		first, err := q.Acquire(t.Context(), shop)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Acquire(ctx, bank); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if q.Waiting() != 0 {
			t.Error("the queue remembers a caller that gave up")
		}
		first.Release()
		second, err := q.Acquire(ctx, bank)
		if err != nil {
			t.Errorf("no turn after the first was released: %v", err)
		}
		second.Release()
	})
}

func TestNilQueue(t *testing.T) {
	var q *Queue
	turn, err := q.Acquire(t.Context(), shop)
	if err != nil {
		t.Error(err)
	}
	turn.Release()
}

func BenchmarkTurn(b *testing.B) {
	q := New(Options{AtOnce: 1})
	b.ReportAllocs()
	for b.Loop() {
		turn, err := q.Acquire(b.Context(), shop)
		if err != nil {
			b.Fatal(err)
		}
		turn.Release()
	}
}
