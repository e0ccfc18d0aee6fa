package placement

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

const (
	// linger is the time for which a replica that is not the owner holds a view after its last
	// subscriber.
	linger = time.Minute
	// sweep is the period in which idle and misplaced views are looked for, and in which other
	// replicas are sent the numbers of subscribers.
	sweep = 2 * time.Second
	// declaredWithin is the time for which another replica's request for a view waits for the
	// GraphView, which the other replica may have seen earlier.
	declaredWithin = 2 * time.Second
)

// Members has the live replicas, see package replicas.
type Members interface {
	Live() []replicas.Member
	// Joined is closed when this replica and the others have seen each other.
	Joined() <-chan struct{}
	// Changed is closed when Live next changes.
	Changed() <-chan struct{}
	// Renewed is the start of the last round in which the API server has answered.
	Renewed() time.Time
}

// Options of a Table. All but Ledger and Logger are required.
type Options struct {
	Engine *graphview.Engine
	// Ledger is charged for the messages of other replicas that subscribers have not read yet. Nil:
	// one for this Table.
	Ledger *budget.Ledger
	// Self is this replica.
	Self    replicas.Member
	Members Members
	// TLS authenticates replicas to each other.
	TLS *tls.Config
	// Published returns the status of a GraphView, for a view that another replica holds.
	Published func(graphview.Name) graphview.Status
	// Notify requeues a GraphView.
	Notify func(graphview.Name)
	Logger logr.Logger
}

// Table has all declared views.
type Table struct {
	o         Options
	closeIdle func() // connections to other replicas
	relays    *edge.Client
	metrics   *metrics

	mu       sync.Mutex
	entries  map[graphview.Name]*entry
	labels   map[graphview.Name]string
	declared chan struct{} // closed when another view is declared
	leaving  chan struct{} // has a token when a replica begins to stop

	states map[string]state // of other replicas, by run
	// plan is made when it is asked for, and balanced when scopes or members have changed.
	plan       plan
	balanced   []replicas.Member
	scopes     map[string]int // the numbers of views
	unbalanced bool           // a scope has come or gone since
	shifted    bool           // shares changed since the views were last requeued
}

// entry is one declared view. Table.mu guards the fields after settling.
type entry struct {
	name graphview.Name
	// settling is held while a view is applied to the engine or removed from it.
	settling sync.Mutex

	uid     string
	scope   string             // as it is counted; empty at first
	spec    *spec.Spec         // nil: refused
	refused *spec.InvalidError // of the controllers
	invalid error              // error of the engine for the spec
	applied bool               // the engine has it
	checked bool               // invalid belongs to this spec
	owned   bool               // this replica owned the view when it was last settled
	users   int                // subscribers here, and relays of other replicas
	until   time.Time          // end of the time for which it is held
	// subscribers counts the subscribers at this replica. reading counts them by relay; the key
	// nil counts those that read the engine here, and localSince is when that count left 0.
	subscribers int
	reading     map[*edge.Relay]int
	localSince  time.Time
	moved       bool // it is given up here in spite of local ones
}

// New returns an empty Table. Its relays end with ctx, or Close.
func New(ctx context.Context, o Options) *Table {
	t := &Table{
		o: o, plan: plan{self: o.Self}, scopes: make(map[string]int), entries: make(map[graphview.Name]*entry), labels: make(map[graphview.Name]string),
		declared: make(chan struct{}), leaving: make(chan struct{}, 1), states: make(map[string]state),
	}
	t.metrics = newMetrics(t)
	reach, closeIdle := edge.Direct(o.TLS)
	t.closeIdle = closeIdle
	t.relays = edge.NewClient(ctx, edge.Options{Reach: reach, Ledger: o.Ledger, Leaving: t.leave, Stale: t.setStale})
	return t
}

// Leave tells the replicas that this one reads from that it is about to stop.
func (t *Table) Leave() { t.relays.Leave() }

// Close ends the relays to other replicas, and joins them.
func (t *Table) Close() {
	t.relays.Close()
	t.closeIdle()
}

// membersChanged requeues each view.
func (t *Table) membersChanged() {
	live := make(map[string]bool)
	for _, m := range t.o.Members.Live() {
		live[m.Run] = true
	}
	t.mu.Lock()
	maps.DeleteFunc(t.states, func(run string, _ state) bool { return !live[run] })
	t.plan.changed, t.shifted = time.Now(), true
	t.mu.Unlock()
	t.requeue()
}

// requeue requeues each view if the owners of some have changed.
func (t *Table) requeue() {
	t.mu.Lock()
	t.planLocked()
	var names []graphview.Name
	if t.shifted {
		t.shifted = false
		names = slices.Collect(maps.Keys(t.entries))
	}
	t.mu.Unlock()
	for _, name := range names {
		t.o.Notify(name)
	}
}

// Place sets the label of a GraphView that replaces its scope, "" for none. It is called before Apply
// or Refuse.
func (t *Table) Place(name graphview.Name, label string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if label == "" {
		delete(t.labels, name)
	} else {
		t.labels[name] = label
	}
	if e := t.entries[name]; e != nil {
		t.rescopeLocked(e)
	}
}

// Apply is Engine.Apply for a view that this replica may or may not hold. The error is the same at
// each replica.
func (t *Table) Apply(ctx context.Context, name graphview.Name, uid string, declared spec.Spec) error {
	return t.reconcile(ctx, t.declare(name, uid, &declared, nil))
}

// Refuse is Engine.Refuse.
func (t *Table) Refuse(name graphview.Name, uid string, why *spec.InvalidError) {
	e := t.declare(name, uid, nil, why)
	e.settling.Lock()
	defer e.settling.Unlock()
	t.o.Engine.Refuse(name, uid, why)
	t.mu.Lock()
	defer t.mu.Unlock()
	e.applied = true
}

func (t *Table) declare(name graphview.Name, uid string, declared *spec.Spec, refused *spec.InvalidError) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[name]
	if e == nil {
		e = &entry{name: name, reading: make(map[*edge.Relay]int)}
		t.entries[name] = e
		close(t.declared)
		t.declared = make(chan struct{})
	}
	e.checked = e.checked && declared != nil && e.spec != nil && reflect.DeepEqual(*e.spec, *declared)
	e.uid, e.spec, e.refused = uid, declared, refused
	t.rescopeLocked(e)
	return e
}

// Remove is Engine.Remove.
func (t *Table) Remove(name graphview.Name) {
	e := t.forget(name)
	if e == nil {
		return
	}
	e.settling.Lock()
	defer e.settling.Unlock()
	t.o.Engine.Remove(name)
}

// forget undoes declare and Place. It returns nil if the view was not declared.
func (t *Table) forget(name graphview.Name) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[name]
	delete(t.entries, name)
	delete(t.labels, name)
	if e != nil {
		t.countLocked(e.scope, -1)
	}
	return e
}

// Status is Engine.Status, which counts the subscribers at other replicas too.
func (t *Table) Status(name graphview.Name) (graphview.Status, bool) {
	status, ok := t.o.Engine.Status(name)
	status.Holder = t.o.Self.Name
	return status, ok
}

// Writes reports whether this replica writes the status of a view. The owner among all live
// members does, of any protocol version. It also holds the view.
func (t *Table) Writes(name graphview.Name) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[name]
	return e != nil && t.planLocked().writes(e.scope)
}

// Settled reports whether the engine has a view if and only if this replica must hold it.
func (t *Table) Settled(name graphview.Name) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[name]
	return e != nil && e.applied == t.holdsLocked(e)
}

// scopeLocked returns the scope of a view, which determines its owner.
func (t *Table) scopeLocked(e *entry) string {
	if label, ok := t.labels[e.name]; ok {
		return "label " + label
	}
	if e.spec == nil || e.spec.Namespaces == nil || len(e.spec.Namespaces.Names) == 0 {
		return "*"
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(e.spec.Namespaces.Names))), ",")
}

// rescopeLocked sets the scope of a view.
func (t *Table) rescopeLocked(e *entry) {
	scope := t.scopeLocked(e)
	if scope == e.scope {
		return
	}
	t.countLocked(e.scope, -1)
	t.countLocked(scope, 1)
	e.scope = scope
}

// countLocked adds to the number of views of a scope, "" for none. The shares change only if a
// scope comes or goes.
func (t *Table) countLocked(scope string, n int) {
	if scope == "" {
		return
	}
	before := t.scopes[scope]
	if t.scopes[scope] = before + n; before+n == 0 {
		delete(t.scopes, scope)
	}
	t.unbalanced = t.unbalanced || before == 0 || before+n == 0
}

// holdsLocked reports whether this replica must hold a view.
func (t *Table) holdsLocked(e *entry) bool {
	owned := t.planLocked().holds(e.scope)
	e.owned = owned
	e.moved = e.moved && !owned
	return owned || !e.moved && (e.users > 0 || time.Now().Before(e.until))
}

// reconcile applies a view to the engine, or removes it, as holdsLocked requires.
func (t *Table) reconcile(ctx context.Context, e *entry) error {
	e.settling.Lock()
	defer e.settling.Unlock()
	t.mu.Lock()
	current := t.entries[e.name] == e
	declared, uid, hold, applied := e.spec, e.uid, t.holdsLocked(e), e.applied
	checked, err := e.checked, e.invalid
	if hold && current && declared != nil {
		// From here on the status of the view is that of the engine.
		e.applied = true
	}
	t.mu.Unlock()
	if !current || declared == nil {
		return nil // removed, or refused
	}
	if !hold && applied {
		t.o.Engine.Remove(e.name)
	}
	switch {
	case hold:
		err = t.o.Engine.Apply(ctx, e.name, uid, *declared)
	case !checked:
		err = t.o.Engine.Check(ctx, e.name, *declared)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e.applied = hold
	if _, invalid := errors.AsType[*spec.InvalidError](err); err == nil || invalid {
		e.invalid, e.checked = err, e.spec == declared
	}
	return err
}

// has reports whether the engine has a view.
func (t *Table) has(name graphview.Name) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[name]
	return e != nil && e.applied
}

// acquire holds a view at this replica until release is called. The error is a *delivery.ClosedError,
// the error of the spec, or ctx's.
func (t *Table) acquire(ctx context.Context, name graphview.Name) (*graphview.View, func(), error) {
	e, err := t.await(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	release := sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if e.users--; e.users == 0 && !e.owned {
			e.until = time.Now().Add(linger)
		}
	})
	// The subscribers of the view get the error from the view.
	_ = t.reconcile(ctx, e)
	if ctx.Err() != nil {
		release()
		return nil, nil, ctx.Err()
	}
	view, ok := t.o.Engine.View(name)
	if !ok {
		release()
		return nil, nil, &delivery.ClosedError{Reason: reason.Deleted, Message: "the view was deleted"}
	}
	return view, release, nil
}

// await waits until a view is declared, and adds one to its users.
func (t *Table) await(ctx context.Context, name graphview.Name) (*entry, error) {
	timer := time.NewTimer(declaredWithin)
	defer timer.Stop()
	for {
		t.mu.Lock()
		e, declared := t.entries[name], t.declared
		if e != nil {
			e.users++
			e.moved = false
			t.mu.Unlock()
			return e, nil
		}
		t.mu.Unlock()
		select {
		case <-declared:
		case <-timer.C:
			return nil, &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
