package graphview

import (
	"sync"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

var (
	narrowedElements     = budget.Declare("narrowed_graph_elements", "objects and references in all narrowed graphs", 1_000_000)
	narrowedUserElements = budget.Declare("narrowed_graph_elements_per_user", "objects and references in the narrowed graphs of one user, or of the ServiceAccounts of one namespace", 100_000)
)

const (
	// fewNarrowed is the number of elements that each user may hold as long as there is room.
	fewNarrowed = 2000
	// freeNarrowed: a user with more than the free elements divided by freeNarrowed gets no more.
	freeNarrowed = 8
)

// narrowedGraphs count the elements that subscribers with narrowed graphs hold.
type narrowedGraphs struct {
	users *budget.Shares[budget.Owner]

	mu   sync.Mutex
	held int64
}

func newNarrowedGraphs() *narrowedGraphs {
	return &narrowedGraphs{users: budget.NewShares[budget.Owner](narrowedUserElements)}
}

// payer returns the payer of one subscription. Its walks are charged to the tokens of the user, as
// ad-hoc views are.
func (g *narrowedGraphs) payer(owner budget.Owner, tokens *budget.Bucket) delivery.Payer {
	return &narrowedPayer{graphs: g, owner: owner, tokens: tokens}
}

// resize changes the number of elements of an owner.
func (g *narrowedGraphs) resize(owner budget.Owner, by int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if by > 0 {
		held, free := g.users.Held(owner)+int64(by), narrowedElements.Limit()-g.held-int64(by)
		if free < 0 || held > fewNarrowed && held*freeNarrowed > free {
			return narrowedElements.Exceed()
		}
		if err := g.users.Take(owner, by); err != nil {
			return err
		}
	} else {
		g.users.Give(owner, -by)
	}
	g.held += int64(by)
	return nil
}

// narrowedPayer implements delivery.Payer.
type narrowedPayer struct {
	graphs *narrowedGraphs
	owner  budget.Owner
	tokens *budget.Bucket
	held   int
}

// Charge implements delivery.Payer. A visit takes about half as long as a unit of an expression's
// cost.
func (p *narrowedPayer) Charge(visits int) time.Duration {
	return p.tokens.Borrow((visits + 1) / 2)
}

// Hold implements delivery.Payer.
func (p *narrowedPayer) Hold(elements int) error {
	if elements == p.held {
		return nil
	}
	if err := p.graphs.resize(p.owner, elements-p.held); err != nil {
		return err
	}
	p.held = elements
	return nil
}
