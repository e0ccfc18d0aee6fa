package graphview

import (
	"strings"
	"sync"

	"graphview.dev/graphview/budget"
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
)

// compiledBytes returns the memory of a view with its compiled spec.
func compiledBytes(s *spec.Spec) int64 { return viewBytes + programBytes*int64(s.TextLen()) }

// The memory of a value belongs to one of two owners. A value that is kept for one view or user, such as
// a vertex of its graph, a summary or a watch with a selector, belongs to the owner of the view or to the
// user: their accounts pay. A value that is kept once for all, such as an object in a watch of all
// namespaces or a reference in the graph, belongs to the namespace of the object, also if only
// views of other namespaces show it: namespacePayer pays.

// namespacePayer pays for the objects of namespaces. It implements graph.Payer for their references, and
// pays for the objects of the watches that views share.
type namespacePayer struct {
	ledger *budget.Ledger

	mu       sync.Mutex
	accounts map[string]*budget.Account // by namespace
}

func newNamespacePayer(ledger *budget.Ledger) *namespacePayer {
	return &namespacePayer{ledger: ledger, accounts: make(map[string]*budget.Account)}
}

var _ graph.Payer = (*namespacePayer)(nil)

// Pay implements graph.Payer.
func (p *namespacePayer) Pay(namespace string, use budget.Use, bytes int) bool {
	return p.charge(namespace, func(a *budget.Account) error { return a.Set(use, int64(bytes)) })
}

// PayObjects adds to the memory of the objects of a namespace; see watch.Options.
func (p *namespacePayer) PayObjects(namespace string, more int) bool {
	return p.charge(namespace, func(a *budget.Account) error { return a.Add(budget.Contents, int64(more)) })
}

// room returns how many more bytes a namespace may hold.
func (p *namespacePayer) room(namespace string) int { return p.Most(namespace, unused) }

// unused is a use for which no account of a namespace holds memory.
const unused = budget.Connections

// charge calls set with the account of a namespace, and keeps the account while it holds something.
func (p *namespacePayer) charge(namespace string, set func(*budget.Account) error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.accounts[namespace]
	known := a != nil
	if !known {
		a = p.ledger.Account(budget.NamespaceOwner(namespace))
	}
	err := set(a)
	switch holds := a.Held() > 0; {
	case holds && !known:
		p.accounts[strings.Clone(namespace)] = a
	case !holds && known:
		delete(p.accounts, namespace)
	}
	return err == nil
}

// Most implements graph.Payer.
func (p *namespacePayer) Most(namespace string, use budget.Use) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.accounts[namespace]
	if a == nil {
		a = p.ledger.Account(budget.NamespaceOwner(namespace))
	}
	return int(a.Most(use))
}
