package graphview

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/quarantine"
)

// Options of an Engine. Config is required.
type Options struct {
	// Config reaches the API server as the operator.
	Config *rest.Config
	Logger logr.Logger
	// SyncTimeout is how long a view waits for a resource before it is served
	// without it, with a warning. 0 means 30 s.
	SyncTimeout time.Duration
	// MaxVertices is how many visible vertices a view may have; beyond, it is
	// not served. 0 means 200,000.
	MaxVertices int
	// Budget is what the expressions of one owner's views may cost at once, in CEL's
	// units, of which a hundredth is granted again each second; a view beyond it is not
	// served. 0 means a billion.
	Budget int
	// LimitRetry is when a view that exceeded a limit is tried again. 0 means
	// five minutes.
	LimitRetry time.Duration
	// Linger is how long a watch of all namespaces is kept that views only share, and
	// none would have by itself. 0 means a minute.
	Linger time.Duration
	// Permit is the Permit of a ServiceAccount. It is asked for views that name
	// one; a change of its answers takes effect within PermitInterval (0: 60 s).
	// Without it, such views are empty.
	Permit         func(ctx context.Context, account Name, places []access.Place) (map[access.Place]bool, error)
	PermitInterval time.Duration
	// MaxOpened is how many views made for one connection there may be at once. 0
	// means 64.
	MaxOpened int
	// Recall has revisions honoured for subscribers that come by way of another replica;
	// see delivery.Shared.
	Recall bool
	// Notify is told when a view's Status may have changed. It must not block
	// and must not call the Engine.
	Notify func(Name)
	// Quarantine notes what is done for users, and refuses what has ended the process
	// before. nil: nothing is noted or refused.
	Quarantine *quarantine.Journal
	// Registerer gets the engine's metrics; nil: nobody does.
	Registerer prometheus.Registerer
}

// The expressions of an owner may cost defaultBudget units at once: ten thousand for each of
// 100,000 objects, which takes half a minute of a core or more. A hundredth of it is granted again
// each second.
const (
	defaultBudget = 1_000_000_000
	budgetRefill  = 100 * time.Second
)

func (o *Options) setDefaults() {
	if o.SyncTimeout == 0 {
		o.SyncTimeout = 30 * time.Second
	}
	if o.MaxVertices == 0 {
		o.MaxVertices = 200_000
	}
	if o.Budget == 0 {
		o.Budget = defaultBudget
	}
	if o.LimitRetry == 0 {
		o.LimitRetry = 5 * time.Minute
	}
	if o.Linger == 0 {
		o.Linger = time.Minute
	}
	if o.PermitInterval == 0 {
		o.PermitInterval = time.Minute
	}
	if o.MaxOpened == 0 {
		o.MaxOpened = 64
	}
	if o.Notify == nil {
		o.Notify = func(Name) {}
	}
}
