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
	// fewNarrowed is what everybody may hold for as long as there is room at all.
	fewNarrowed = 2000
	// freeNarrowed is the part of what is free, one of so many, that one user may hold
	// already and still get more.
	freeNarrowed = 8
)

// narrowedGraphs count what is held for subscribers who narrow graphs.
type narrowedGraphs struct {
	users *budget.Shares[budget.Owner]

	mu   sync.Mutex
	held int64
}

func newNarrowedGraphs() *narrowedGraphs {
	return &narrowedGraphs{users: budget.NewShares[budget.Owner](narrowedUserElements)}
}

// payer answers for one subscription of a user, whose tokens its walks are charged to as
// the user's ad-hoc views are.
func (g *narrowedGraphs) payer(owner budget.Owner, tokens *budget.Bucket) delivery.Payer {
	return &narrowedPayer{graphs: g, owner: owner, tokens: tokens}
}

// resize counts that an owner holds more, or less.
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

// Charge implements delivery.Payer. To look at an object takes about half as long as a
// unit of an expression's cost.
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
