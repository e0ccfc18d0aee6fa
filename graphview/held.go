package graphview

import (
	"strings"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// Memory that a view holds, in bytes. TestHeldBytes compares the sum with the heap.
const (
	viewBytes     = 40 << 10 // per view without a spec, with its GraphView in the cache and its Events
	programBytes  = 96       // per byte of a spec's text once it is compiled
	rightBytes    = 250      // per answer of a Permit about a place
	watchBytes    = 64 << 10 // per watch, with its goroutine and buffers
	objectBytes   = 1400     // per object that a watch retains, without its content
	selectedBytes = 64       // per namespace that the view selects by its content
	indexedBytes  = 16       // per namespace in the index of a watch that the view shares
	narrowedBytes = 256      // per vertex or reference of a narrowed graph
)

// compiledBytes returns the memory of a view with its compiled spec.
func compiledBytes(s *spec.Spec) int64 { return viewBytes + programBytes*int64(s.TextLen()) }

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

// narrowedPayer implements delivery.Payer for one subscription. The user pays for its walks, as for
// ad-hoc views.
type narrowedPayer struct {
	account *budget.Account
	tokens  *budget.Bucket
	// short is the error for the next elements of the subscription, nil if it may hold more.
	short atomic.Pointer[budget.Overdrawn]
}

var _ delivery.Payer = (*narrowedPayer)(nil)

func newNarrowedPayer(account *budget.Account, tokens *budget.Bucket) *narrowedPayer {
	p := &narrowedPayer{account: account, tokens: tokens}
	account.OnRelieve(func(why *budget.Overdrawn) bool { return p.short.CompareAndSwap(nil, why) })
	return p
}

// Charge implements delivery.Payer. A visit takes about half the time of one unit of expression cost.
func (p *narrowedPayer) Charge(visits int) time.Duration { return p.tokens.Borrow((visits + 1) / 2) }

// Hold implements delivery.Payer.
func (p *narrowedPayer) Hold(elements int) error {
	if why := p.short.Load(); why != nil && elements > 0 {
		return why
	}
	return p.account.Set(budget.Elements, narrowedBytes*int64(elements)) //nolint:wrapcheck // the subscriber reads it
}
