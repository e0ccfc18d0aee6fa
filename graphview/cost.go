package graphview

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"graphview.dev/graphview/budget"
)

// costBudget is what a view's expressions may cost over time, in CEL's units: what
// one object may cost is bounded by maxCost, what a busy resource may cost by
// this. It is a token bucket that any goroutine may charge. Views that one user made
// for connections share one.
type costBudget struct{ bucket atomic.Pointer[bucket] }

type bucket struct {
	tokens *rate.Limiter
	// shared: others charge the tokens too.
	shared bool
	// refilled is when an edit of the spec last brought tokens. Only who sets the
	// program uses it.
	refilled time.Time
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

// An edited spec brings a tenth of a budget, and not more often than that is granted
// anyway: who edits all the time has twice as much as who does not.
const (
	editShare = 10
	editEvery = budgetSeconds / editShare * time.Second
)

func newTokens(size int) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(size)/budgetSeconds, size)
}

// reset begins anew with a full bucket, or where it is shared, with what there is.
func (b *costBudget) reset(size int) {
	if before := b.bucket.Load(); before != nil && before.shared {
		b.share(before.tokens)
		return
	}
	b.bucket.Store(&bucket{tokens: newTokens(size)})
}

// share has the budget charge tokens that others charge too.
func (b *costBudget) share(tokens *rate.Limiter) {
	b.bucket.Store(&bucket{tokens: tokens, shared: true})
}

// edited begins anew with what is left and, if that was not just done, some more: what
// the spec cost before says nothing about what it is now. It tells whether the budget
// before was spent.
func (b *costBudget) edited(now time.Time) bool {
	before := b.bucket.Load()
	next := &bucket{tokens: before.tokens, shared: before.shared, refilled: before.refilled}
	if size := before.tokens.Burst(); !before.shared && now.Sub(before.refilled) >= editEvery {
		next.refilled = now
		next.tokens = newTokens(size)
		if left := min(before.tokens.TokensAt(now)+float64(size)/editShare, float64(size)); left < float64(size) {
			next.tokens.AllowN(now, size-int(max(left, 0)))
		}
	}
	b.bucket.Store(next)
	return before.spent.Load()
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

// owners are the budgets of users, for the views that they make for connections. One
// that is full again is as good as none, and is forgotten.
type owners struct {
	mu      sync.Mutex
	budgets map[budget.Owner]*rate.Limiter
}

// of returns the tokens of a user.
func (o *owners) of(owner budget.Owner, size int, now time.Time) *rate.Limiter {
	o.mu.Lock()
	defer o.mu.Unlock()
	if tokens, ok := o.budgets[owner]; ok && owner != (budget.Owner{}) {
		return tokens
	}
	tokens := newTokens(size)
	if owner == (budget.Owner{}) {
		return tokens
	}
	if o.budgets == nil {
		o.budgets = make(map[budget.Owner]*rate.Limiter)
	}
	for name, other := range o.budgets {
		if other.TokensAt(now) >= float64(size) {
			delete(o.budgets, name)
		}
	}
	o.budgets[owner] = tokens
	return tokens
}
