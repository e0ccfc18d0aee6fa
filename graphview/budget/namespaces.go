package budget

import (
	"strings"
	"sync"
)

// Namespaces have the accounts of namespaces, which pay for the values that are kept once for all: the
// objects of watches that views share, and their references.
type Namespaces struct {
	ledger *Ledger

	mu       sync.Mutex
	accounts map[string]*Account // of the namespaces that hold something
}

// NewNamespaces returns the accounts of namespaces in a ledger.
func NewNamespaces(l *Ledger) *Namespaces {
	return &Namespaces{ledger: l, accounts: make(map[string]*Account)}
}

// Pay sets the number of bytes that a namespace holds for a use, if it may hold that many, and reports
// whether it may. A smaller number is never refused.
func (n *Namespaces) Pay(namespace string, use Use, bytes int) bool {
	return n.charge(namespace, func(a *Account) error { return a.Set(use, int64(bytes)) })
}

// PayMore adds to the number of bytes that a namespace holds for a use. It refuses as Pay does.
func (n *Namespaces) PayMore(namespace string, use Use, more int) bool {
	return n.charge(namespace, func(a *Account) error { return a.Add(use, int64(more)) })
}

// charge calls set with the account of a namespace, and keeps the account while it holds something.
func (n *Namespaces) charge(namespace string, set func(*Account) error) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, known := n.accountLocked(namespace)
	err := set(a)
	switch holds := a.Held() > 0; {
	case holds && !known:
		n.accounts[strings.Clone(namespace)] = a
	case !holds && known:
		delete(n.accounts, namespace)
	}
	return err == nil
}

// Most returns the largest number of bytes that Pay accepts for a use now.
func (n *Namespaces) Most(namespace string, use Use) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, _ := n.accountLocked(namespace)
	return int(a.Most(use))
}

// Room returns how many more bytes a namespace may hold now.
func (n *Namespaces) Room(namespace string) int { return n.Most(namespace, unused) }

// unused is a use for which no account of a namespace holds memory.
const unused = Connections

func (n *Namespaces) accountLocked(namespace string) (a *Account, known bool) {
	if a := n.accounts[namespace]; a != nil {
		return a, true
	}
	return n.ledger.Account(NamespaceOwner(namespace)), false
}
