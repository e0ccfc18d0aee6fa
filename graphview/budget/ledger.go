package budget

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
)

// HeldBytes is the limit of a [Ledger] in a process without a memory limit.
var HeldBytes = Declare("held_bytes", "bytes that the views, the connections and the objects of all owners hold", 1<<30)

// Ledger limits the bytes that all owners hold together. An owner may hold as many bytes as
// are free: one owner alone holds at most half of the limit, two a third each, n owners 1/(n+1)
// each. So another owner always finds free bytes. The rule is from A. Choudhury and E. Hahne,
// "Dynamic queue length thresholds for shared-memory packet switches", 1998.
//
// A value that is kept for one view or user is charged to its owner. A value that is kept once for all,
// such as an object in a watch of all namespaces, is charged to the namespace of the object, also
// if only views of other namespaces show it.
type Ledger struct {
	limit int64

	mu    sync.Mutex
	total int64
	held  map[Owner]int64
	// refusable are the accounts that hold bytes and have a function of Account.OnRelieve.
	refusable map[*Account]struct{}
}

// MemoryLimit returns the memory limit of the Go runtime (GOMEMLIMIT) in bytes, 0 if there is none.
func MemoryLimit() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// NewLedger returns a Ledger with a limit in bytes. 0 means half of MemoryLimit, or 1 GiB if there is
// none.
func NewLedger(limit int64) *Ledger {
	if limit == 0 {
		limit = cmp.Or(MemoryLimit()/2, HeldBytes.limit)
	}
	return &Ledger{limit: limit, held: make(map[Owner]int64), refusable: make(map[*Account]struct{})}
}

// Use is a purpose for which an [Account] holds memory.
type Use int

const (
	// Programs are views and their compiled expressions.
	Programs Use = iota
	// Elements are the vertices and references of graphs.
	Elements
	// Summaries are the summaries of objects that a view keeps for its subscribers.
	Summaries
	// Rights are the answers to questions about the places that an account may list and watch.
	Rights
	// Watches are watches restricted to a namespace or by a selector, with their objects.
	Watches
	// Faults are the objects that could not be processed.
	Faults
	// Messages are messages of other clusters that a subscriber has not read yet, answers that are
	// being written, and messages that the subscribers of a view share.
	Messages
	// Connections are the connections of a user, with the data that is being sent on them.
	Connections
	// Contents are the objects of a namespace in watches that views share.
	Contents
	// Names are the references by name from the objects of a namespace, with their labels, selectors and
	// paths. Matches are the references by selector.
	Names
	Matches

	uses
)

// Account is the memory of one view or subscriber.
type Account struct {
	ledger *Ledger
	owner  Owner
	held   [uses]int64 // guarded by ledger.mu
	all    int64       // sum of held
	refuse func(*Overdrawn) bool
}

// Account returns an empty account of an owner.
func (l *Ledger) Account(owner Owner) *Account { return &Account{ledger: l, owner: owner} }

// Set replaces the number of bytes of one use. If the owner would hold more than is free, Set
// changes nothing and returns an [*Overdrawn]. A smaller number is never refused.
func (a *Account) Set(use Use, n int64) error {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.chargeLocked(use, n-a.held[use])
}

// Add adds to the number of bytes of one use. It refuses as Set does.
func (a *Account) Add(use Use, by int64) error {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.chargeLocked(use, by)
}

func (a *Account) chargeLocked(use Use, by int64) error {
	l := a.ledger
	if by > 0 && by > l.roomLocked(a.owner) {
		HeldBytes.Exceed()
		return &Overdrawn{Owner: a.owner, Held: l.held[a.owner], Free: max(0, l.limit-l.total)}
	}
	if by != 0 {
		a.addLocked(use, by)
	}
	return nil
}

// roomLocked returns how many more bytes an owner may hold.
func (l *Ledger) roomLocked(owner Owner) int64 { return max(0, (l.limit-l.total-l.held[owner])/2) }

// Most returns the largest number of bytes that Set accepts for a use now.
func (a *Account) Most(use Use) int64 {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.held[use] + a.ledger.roomLocked(a.owner)
}

func (a *Account) addLocked(use Use, by int64) {
	l := a.ledger
	l.total += by
	if l.held[a.owner] += by; l.held[a.owner] == 0 {
		delete(l.held, a.owner)
	}
	a.held[use] += by
	switch a.all += by; {
	case a.all == 0:
		delete(l.refusable, a)
	case a.refuse != nil:
		l.refusable[a] = struct{}{}
	}
}

// OnRelieve sets the function that makes the account release its memory, at once or soon, when memory
// is short. The function returns false if it can release nothing. Call OnRelieve before the first Set.
func (a *Account) OnRelieve(refuse func(*Overdrawn) bool) { a.refuse = refuse }

// Relieve makes one account release its memory, because the process is short of memory although no
// owner exceeds its share: the largest account of the owner that holds most. It returns the owner, or
// false if no account can release anything. It spares owners below an eighth of the limit while all
// together hold less than half of it: most of the memory is then in use elsewhere.
func (l *Ledger) Relieve() (Owner, bool) {
	type candidate struct {
		*Account

		bytes, owned int64
	}
	l.mu.Lock()
	all := make([]candidate, 0, len(l.refusable))
	for a := range l.refusable {
		if owned := l.held[a.owner]; owned >= l.limit/8 || l.total >= l.limit/2 {
			all = append(all, candidate{a, a.all, owned})
		}
	}
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.owned, a.owned), cmp.Compare(a.owner.name, b.owner.name), cmp.Compare(b.bytes, a.bytes))
	})
	for _, a := range all {
		if a.refuse(&Overdrawn{Owner: a.owner, Held: a.owned}) {
			return a.owner, true
		}
	}
	return Owner{}, false
}

// Release sets some uses of the account to 0 bytes.
func (a *Account) Release(some ...Use) {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, use := range some {
		a.addLocked(use, -a.held[use])
	}
}

// Close sets all uses of the account to 0 bytes.
func (a *Account) Close() {
	for use := range uses {
		a.Release(use)
	}
}

// Owner returns the owner of the account.
func (a *Account) Owner() Owner { return a.owner }

// Held returns the number of bytes that the account holds.
func (a *Account) Held() int64 {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.all
}

// Total returns the number of bytes that all owners together hold.
func (l *Ledger) Total() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Overdrawn is the error of an owner that may hold no more memory.
type Overdrawn struct {
	Owner      Owner
	Held, Free int64 // bytes
}

func (e *Overdrawn) Error() string {
	kept, remedy := "GraphViews, connections and objects", "delete or narrow"
	if e.Owner.isUser() {
		kept, remedy = "ad-hoc views and connections", "close or narrow"
	}
	return fmt.Sprintf("the %s of %s hold %d MiB of memory, and an owner may hold no more than the %d MiB that are free for all; %s some of them, or raise the operator's memory limit",
		kept, e.Owner, e.Held>>20, e.Free>>20, remedy)
}
