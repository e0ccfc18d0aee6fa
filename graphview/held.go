package graphview

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/spec"
)

// The memory that a view holds, in bytes. TestHeldBytes compares the sum with the heap.
const (
	viewBytes     = 40 << 10 // of a view without a spec, with its GraphView in the cache and its Events
	programBytes  = 96       // of each byte of a spec's text once it is compiled
	rightBytes    = 250      // of a place that the view's account may list and watch, or may not
	watchBytes    = 64 << 10 // of a watch, with its goroutine and buffers
	objectBytes   = 1400     // of an object that a watch retains, without its content
	selectedBytes = 64       // of a namespace that the view selects by its content
	indexedBytes  = 16       // of a namespace in the index of a watch that the view shares
	narrowedBytes = 256      // of a vertex or reference of a narrowed graph
)

// compiledBytes returns the memory of a view with a spec.
func compiledBytes(s *spec.Spec) int64 { return viewBytes + programBytes*int64(s.TextLen()) }

// hold charges the view's owner for one use of memory. If the owner may hold no more, the view is not
// served until its limits are retried.
func (v *View) hold(use budget.Use, bytes int64) error {
	err := v.account.Set(use, bytes)
	if err != nil {
		v.overdraw(err)
	}
	return err
}

// overdraw ends the view's service until its limits are retried.
func (v *View) overdraw(err error) {
	message := err.Error()
	v.overdrawn.Store(&message)
	v.interruptPlan()
}

// interruptPlan ends the work of the view's goroutine on a plan, such as a replay, and makes it
// reconcile.
func (v *View) interruptPlan() {
	v.mu.Lock()
	v.supersedeLocked()
	v.mu.Unlock()
	v.kick()
}

// uncompiled returns the spec of a view that has no program because its owner could hold no more
// memory; nil if there is none.
func (v *View) uncompiled() *spec.Spec {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.program != nil || v.refusal != nil || v.closed != nil {
		return nil
	}
	return v.spec
}

// compileAgain compiles the spec of a view without a program.
func (k *keeper) compileAgain(ctx context.Context, declared *spec.Spec) {
	v := k.view
	if program, err := v.engine.compileView(ctx, v.name, *declared); !unknown(err) {
		v.engine.mu.Lock()
		defer v.engine.mu.Unlock()
		if v.sameSpec(*declared) {
			v.install(declared, program, err)
		}
	}
}

// holdWatches charges for the watches that the view has or needs, and for the namespaces in their
// indexes. A watch of all objects of a resource is free, because all views share it. The objects of
// another watch are charged to its views in equal parts.
func (k *keeper) holdWatches(needed map[plan.Need]bool) error {
	e := k.view.engine
	bytes := selectedBytes * int64(len(k.namespaces))
	e.mu.Lock()
	for _, t := range k.allTaps() {
		bytes += indexedBytes * int64(len(t.concerning().Names))
		if restricted(t.need) {
			has := t.state()
			bytes += watchBytes + (objectBytes*int64(has.Objects)+has.Bytes)/int64(max(1, t.feed.leases))
		}
	}
	e.mu.Unlock()
	for n := range needed {
		if k.taps[n] == nil && restricted(n) {
			bytes += watchBytes
		}
	}
	return k.view.hold(budget.Watches, bytes)
}

// holdRights charges for what the view's account is asked for.
func (k *keeper) holdRights(places int) error {
	k.rights = places
	return k.view.hold(budget.Rights, rightBytes*int64(places))
}

// holdMoreRights is holdRights if more places are charged than before.
func (k *keeper) holdMoreRights(places int) error {
	if places <= k.rights {
		return nil
	}
	return k.holdRights(places)
}

// restricted reports whether a need is one of objects of a namespace or with a selector.
func restricted(n plan.Need) bool {
	return !n.OfReleases() && (n.Key.Namespace != "" || n.Key.LabelSelector != "" || n.Key.FieldSelector != "")
}

// referencePayer implements graph.Payer. Only the writer uses it.
type referencePayer struct {
	ledger   *budget.Ledger
	accounts map[string]*budget.Account // by namespace
}

var _ graph.Payer = (*referencePayer)(nil)

// Pay implements graph.Payer.
func (p *referencePayer) Pay(namespace string, use budget.Use, bytes int) bool {
	a := p.accounts[namespace]
	if a == nil {
		a = p.ledger.Account(budget.NamespaceOwner(namespace))
		p.accounts[strings.Clone(namespace)] = a
	}
	err := a.Set(use, int64(bytes))
	if (bytes == 0 || err != nil) && a.Held() == 0 {
		delete(p.accounts, namespace)
	}
	return err == nil
}

// Most implements graph.Payer.
func (p *referencePayer) Most(namespace string, use budget.Use) int {
	a := p.accounts[namespace]
	if a == nil {
		a = p.ledger.Account(budget.NamespaceOwner(namespace))
	}
	return int(a.Most(use))
}

// Ledger returns the ledger of all memory that owners hold.
func (e *Engine) Ledger() *budget.Ledger { return e.ledger }

// retryNext retries the first view of a namespace that is not served because its owner held too much
// memory, after another view has released some. Once the retried view has synced, it calls retryNext
// again, so that views are retried one after another.
func (e *Engine) retryNext(namespace string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return
	}
	var next *View
	for name, v := range e.views {
		if name.Namespace == namespace && v.overdrawn.Load() != nil && (next == nil || name.Name < next.name.Name) {
			next = v
		}
	}
	if next != nil {
		next.retry.Store(true)
		next.kick()
	}
}

// Relieve takes memory back from the owner that holds the most. It is called when the process is short
// of memory although no owner exceeds its share. A view that is ended is retried like one that exceeds
// a limit.
func (e *Engine) Relieve() {
	if owner, ok := e.ledger.Relieve(); ok {
		e.o.Logger.Info("A view or a connection is not served, because the process has too little memory left", "owner", owner.String())
	}
}

// relieve ends the view's service, unless that has ended.
func (v *View) relieve(why *budget.Overdrawn) bool {
	if v.overdrawn.Load() != nil {
		return false
	}
	v.overdraw(why)
	return true
}

// narrowedPayer implements delivery.Payer for one subscription. Its walks are charged to the tokens of
// the user, as ad-hoc views are.
type narrowedPayer struct {
	account *budget.Account
	tokens  *budget.Bucket
	// short refuses what the subscription reads next, nil if it may hold more.
	short atomic.Pointer[budget.Overdrawn]
}

var _ delivery.Payer = (*narrowedPayer)(nil)

func newNarrowedPayer(account *budget.Account, tokens *budget.Bucket) *narrowedPayer {
	p := &narrowedPayer{account: account, tokens: tokens}
	account.OnRelieve(func(why *budget.Overdrawn) bool { return p.short.CompareAndSwap(nil, why) })
	return p
}

// Charge implements delivery.Payer. A visit takes about half as long as a unit of an expression's
// cost.
func (p *narrowedPayer) Charge(visits int) time.Duration { return p.tokens.Borrow((visits + 1) / 2) }

// Hold implements delivery.Payer.
func (p *narrowedPayer) Hold(elements int) error {
	if why := p.short.Load(); why != nil && elements > 0 {
		return why
	}
	return p.account.Set(budget.Elements, narrowedBytes*int64(elements)) //nolint:wrapcheck // the subscriber reads it
}
