package graphview

import (
	"cmp"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/history"
)

// Options of an Engine. Config is required.
type Options struct {
	// Config is the client configuration of the operator.
	Config *rest.Config
	Logger logr.Logger
	// SyncTimeout is the time for which a view waits for a resource to sync. After that, the view is
	// served without the resource, with a warning. 0 means 30 s.
	SyncTimeout time.Duration
	// MaxVertices limits the visible vertices of a view. A view with more is not served. 0 means
	// 200,000.
	MaxVertices int
	// HeldBytes is the memory that views and connections may hold together; see budget.Ledger. 0
	// means half of the memory limit of the process, or 1 GiB without a limit.
	HeldBytes int64
	// Budget is the cost that the expressions of one owner's views may have at once, in CEL's units.
	// The owner regains 1 % of it each second. A view that exceeds it is not served. 0 means a billion.
	Budget int
	// LimitRetry is the time after which a view that exceeded a limit is retried. 0 means five
	// minutes.
	LimitRetry time.Duration
	// Linger is the time for which views continue to share a watch of all namespaces after too few
	// of them need it. 0 means a minute.
	Linger time.Duration
	// Review answers whether a ServiceAccount has a right, for views with a serviceAccountName. Nil: it asks the
	// API server. A change of its answers takes effect within RightsInterval (0: 60 s).
	Review         access.Review
	RightsInterval time.Duration
	// Own is the user in Config, for a process that may not watch everything. Its rights
	// replace those of a ServiceAccount or of a subscriber for every view, and the engine
	// watches only the places that they allow. References to kinds that they deny remain. Nil: the engine
	// tries every watch.
	Own user.Info
	// WithoutHealth leaves the health of all objects unknown, because they are manifests: nothing has run.
	WithoutHealth bool
	// History records the changes of objects. Nil: there is none. Run also runs it.
	History *history.Log
	// Notify is called when the Status of a named view may have changed. It must not block and must
	// not call the Engine.
	Notify func(Name)
	// RefuseUntil is the time until which the engine refuses specs with expressions that may be
	// costly, because they may have ended earlier processes. Zero: it refuses none.
	RefuseUntil time.Time
	// Relations are the views whose references are metrics, for each reader of the metrics.
	Relations []Name
	// Registerer gets the engine's metrics. It may be nil.
	Registerer prometheus.Registerer
}

// The expressions of an owner may cost defaultBudget units at once: ten thousand for each of
// 100,000 objects, which takes half a minute of a core or more. The owner regains the whole budget
// within budgetRefill.
const (
	defaultBudget = 1_000_000_000
	budgetRefill  = 100 * time.Second
)

func (o *Options) setDefaults() {
	o.SyncTimeout = cmp.Or(o.SyncTimeout, 30*time.Second)
	o.MaxVertices = cmp.Or(o.MaxVertices, 200_000)
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	o.LimitRetry = cmp.Or(o.LimitRetry, 5*time.Minute)
	o.Linger = cmp.Or(o.Linger, time.Minute)
	o.RightsInterval = cmp.Or(o.RightsInterval, time.Minute)
	if o.Notify == nil {
		o.Notify = func(Name) {}
	}
}

// Name is the name of a view. It is the name of its GraphView.
type Name struct {
	Namespace, Name string
}

// String returns namespace/name.
func (n Name) String() string { return n.Namespace + "/" + n.Name }
