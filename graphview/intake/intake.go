package intake

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// Options of an Intake. All are required, except for the Logger.
type Options struct {
	Graph      *graph.Graph
	Writer     *writer.Writer
	Watches    *watch.Manager
	Rules      *rules.Set
	Processors *quota.Processors
	Discovery  *resources.Discovery
	// Reducer is also that of the Watches.
	Reducer *helm.Reducer
	// Retry is the time after which objects and rules that exceed a limit are retried.
	Retry time.Duration
	// WithoutHealth leaves the health of all objects unknown.
	WithoutHealth bool
	// History records the changes of objects; nil for none.
	History *history.Log
	Logger  logr.Logger
}

// Counts are totals since the start.
type Counts struct {
	Sets, Deletes, Replays atomic.Uint64
	// Failures counts failed lists and watches.
	Failures atomic.Uint64
	// Undecodable counts objects that cannot be decoded. Unevaluated counts failed evaluations: an
	// object counts once for each consumer whose expressions fail on it.
	Undecodable, Unevaluated atomic.Uint64
}

// Intake connects watches with the graph. See the package documentation.
type Intake struct {
	Counts Counts

	o          Options
	evaluating sync.WaitGroup // backlogs

	kicks   chan struct{} // wakes Run
	staleMu sync.Mutex
	stale   objectQueue[staleOf] // whose references Run has to read again

	recorder *recorder // nil without a history

	// feedsMu guards the feeds. Its holder does not wait, except in watch.Manager.Acquire, which waits
	// only for Run.
	feedsMu sync.Mutex
	feeds   map[*watch.Watch]*Feed // with leases

	// Only the writer uses the fields below.
	bySource map[graph.SourceID]*Feed
	releases *helm.Releases[*Feed]
}

// New returns an Intake without feeds.
func New(o Options) *Intake {
	in := &Intake{o: o, kicks: make(chan struct{}, 1), feeds: make(map[*watch.Watch]*Feed), bySource: make(map[graph.SourceID]*Feed)}
	o.Writer.AfterRevision(in.reportExceeded)
	in.recorder = newRecorder(o.History, o.Graph)
	in.releases = helm.NewReleases(func(f *Feed, object *graph.Object) { o.Graph.Set(f.source, object) })
	return in
}

// Wait joins the goroutines of backlogs. The contexts of all evaluators must have ended.
func (in *Intake) Wait() { in.evaluating.Wait() }

// reportExceeded updates the warnings of consumers about objects that began or ceased to exceed a limit
// of the graph in the last revision. Only the writer calls it.
func (in *Intake) reportExceeded() {
	var changed map[*delivery.Warnings]bool // their subscribers are notified once for all objects
	defer func() {
		for w := range changed {
			w.Notify()
		}
	}()
	for _, x := range in.o.Graph.Exceedances() {
		has := make(map[*graph.Lens]bool, len(x.Lenses))
		for _, l := range x.Lenses {
			has[l] = true
		}
		for _, source := range x.Sources {
			f := in.bySource[source]
			if f == nil {
				continue
			}
			for _, t := range f.taps.All() {
				if t.State() != Closed && t.role.shows() && has[t.evaluator.lens] {
					if w := t.evaluator.warnings; w.SetExceeded(&t.faults, x.Namespace, x.Name, exceeded(x.Err)) {
						changed = with(changed, w)
					}
				}
			}
		}
	}
}

// with adds an element to a set, which may be nil.
func with[T comparable](set map[T]bool, element T) map[T]bool {
	if set == nil {
		set = make(map[T]bool)
	}
	set[element] = true
	return set
}

// exceeded returns the warning about an object that exceeds a limit of the graph, nil for none.
func exceeded(err error) error {
	if err == nil {
		return nil
	}
	return &delivery.PartialError{Err: err, OfBound: true}
}
