package graphview

import (
	"sync"
	"time"
)

// departed has the budgets of views and rules that are gone, for those that come in
// their place: who deletes and creates has no more to spend than who edits. One that
// is full again is as good as none, and is forgotten.
type departed struct {
	mu     sync.Mutex
	spaces map[string]map[string]*bucket // by namespace and name
	swept  time.Time
}

// maxDeparted bounds the budgets that are kept of one namespace. Beyond it the one is
// forgotten of which most is left.
const maxDeparted = 500

// put keeps the budget of what is gone.
func (d *departed) put(namespace, name string, b *bucket, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.swept) >= budgetSeconds*time.Second {
		d.swept = now
		for namespace := range d.spaces {
			d.sweepLocked(namespace, now)
		}
	}
	if b.isFull(now) {
		return
	}
	if d.spaces == nil {
		d.spaces = make(map[string]map[string]*bucket)
	}
	kept := d.spaces[namespace]
	if kept == nil {
		kept = make(map[string]*bucket)
		d.spaces[namespace] = kept
	}
	if before := kept[name]; before == nil || b.tokens.TokensAt(now) < before.tokens.TokensAt(now) {
		kept[name] = b
	}
	if len(kept) > maxDeparted {
		d.sweepLocked(namespace, now)
	}
	if len(kept) > maxDeparted {
		delete(kept, pickBudget(kept, func(a, b *bucket) bool { return a.tokens.TokensAt(now) > b.tokens.TokensAt(now) }))
	}
}

// take returns the budget of what had a name or, since another name is chosen as
// easily, the one of which least is left in the namespace. It is nil if there is none.
func (d *departed) take(namespace, name string, now time.Time) *bucket {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweepLocked(namespace, now)
	kept := d.spaces[namespace]
	if kept[name] == nil {
		name = pickBudget(kept, func(a, b *bucket) bool { return a.tokens.TokensAt(now) < b.tokens.TokensAt(now) })
	}
	taken := kept[name]
	if delete(kept, name); len(kept) == 0 {
		delete(d.spaces, namespace)
	}
	return taken
}

// sweepLocked forgets the budgets of a namespace that are full again.
func (d *departed) sweepLocked(namespace string, now time.Time) {
	kept := d.spaces[namespace]
	for name, b := range kept {
		if b.isFull(now) {
			delete(kept, name)
		}
	}
	if len(kept) == 0 {
		delete(d.spaces, namespace)
	}
}

// pickBudget is the name of the budget that comes before all others.
func pickBudget(of map[string]*bucket, before func(a, b *bucket) bool) (picked string) {
	for name, b := range of {
		if picked == "" || before(b, of[picked]) {
			picked = name
		}
	}
	return picked
}

// isFull tells whether all of a budget may be spent.
func (b *bucket) isFull(now time.Time) bool {
	return b.tokens.TokensAt(now) >= float64(b.tokens.Burst())
}

// succeed begins with what is left of the budget of something that is gone. Whatever
// used it up is not what is evaluated now.
func (b *costBudget) succeed(before *bucket) {
	b.bucket.Store(&bucket{tokens: before.tokens, refilled: before.refilled})
}
