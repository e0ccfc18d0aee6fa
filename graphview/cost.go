package graphview

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// costBudget is what a view's expressions may cost over time, in CEL's units: what
// one object may cost is bounded by maxCost, what a busy resource may cost by
// this, since all views of a watch are judged in its goroutine. It is a token
// bucket that any goroutine may charge.
type costBudget struct{ bucket atomic.Pointer[bucket] }

type bucket struct {
	tokens *rate.Limiter
	// spent: there were too few tokens once.
	spent atomic.Bool
}

// defaultBudget is what a view's expressions may cost at once: three thousand
// units for each of 100,000 objects, which takes half a minute of one core.
// A hundredth of it is granted anew each second.
const (
	defaultBudget = 300_000_000
	budgetSeconds = 100
)

// reset begins anew with a full bucket.
func (b *costBudget) reset(size int) {
	b.bucket.Store(&bucket{tokens: rate.NewLimiter(rate.Limit(size)/budgetSeconds, size)})
}

// spent tells whether the view may evaluate nothing more until the next reset.
func (b *costBudget) spent() bool { return b.bucket.Load().spent.Load() }

// charge takes what an evaluation has cost, and tells whether that was there.
// What was begun before a reset is charged to what was there before.
func (b *bucket) charge(cost uint64) bool {
	if cost == 0 || b.tokens.AllowN(time.Now(), int(min(cost, 2*maxCost))) {
		return true
	}
	b.spent.Store(true)
	return false
}
