package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// writerLease is the name of the Lease of the replica that writes status.
const writerLease = "graphview-status-writer"

// The times of the election are those of Kubernetes' own controllers.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// Election elects the replica that writes status, by a Lease in the operator's namespace. A replica
// that loses the Lease stops writing and takes part in the election again; nothing else in the process
// depends on the Lease. A nil Election is for an only replica, which always writes.
type Election struct {
	elector *leaderelection.LeaderElector
	term    *term
}

// NewElection returns an Election in which this replica takes part with Run. The identity differs
// from that of each other process.
func NewElection(config *rest.Config, namespace, identity string, logger logr.Logger) (*Election, error) {
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, writerLease,
		resourcelock.ResourceLockConfig{Identity: identity}, config, renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", writerLease, err)
	}
	e := &Election{term: &term{Interface: lease, logger: logger, changed: make(chan struct{})}}
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: writerLease, Lock: e.term, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: true, // the next replica does not wait until the Lease expires
		// Elected asks the term, so the callbacks have nothing to do.
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", writerLease, err)
	}
	return e, nil
}

// Run takes part in the election until ctx is done, and then gives up the Lease.
func (e *Election) Run(ctx context.Context) error {
	// The term logs each error once, and the elector at each attempt.
	ctx = klog.NewContext(ctx, logr.Discard())
	for ctx.Err() == nil {
		if e.elector.Run(ctx); ctx.Err() == nil {
			e.term.logger.Info("This replica lost the Lease of the writer of status, and is a candidate again")
		}
	}
	return nil
}

// Elected reports whether this replica writes status now. The answer comes from the clock: a process
// that was suspended for longer than its Lease does not write before it has renewed it.
func (e *Election) Elected() bool { return e == nil || e.term.runs() }

// Changed returns a channel that is closed when this replica is elected next; nil for a nil Election.
func (e *Election) Changed() <-chan struct{} {
	if e == nil {
		return nil
	}
	e.term.mu.Lock()
	defer e.term.mu.Unlock()
	return e.term.changed
}

// term wraps a Lease, and knows until when this replica has it. The elector calls one method at
// a time.
type term struct {
	resourcelock.Interface

	logger logr.Logger
	logged string // the kind of the last error; "" if there was none

	mu      sync.Mutex
	until   time.Time     // the end of the Lease for this replica: never later than for the others
	changed chan struct{} // closed when this replica is elected
}

func (t *term) runs() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until)
}

// Get implements resourcelock.Interface.
func (t *term) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := t.Interface.Get(ctx)
	if !apierrors.IsNotFound(err) {
		t.log(ctx, err)
	}
	return record, raw, err //nolint:wrapcheck // the elector looks at it
}

// Create implements resourcelock.Interface.
func (t *term) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return t.hold(ctx, func() error { return t.Interface.Create(ctx, record) })
}

var errLost = errors.New("another replica may hold the lease by now")

// Update implements resourcelock.Interface.
func (t *term) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == t.Identity() {
		return t.hold(ctx, func() error { return t.Interface.Update(ctx, record) })
	}
	// The elector releases the Lease, even if it lost the Lease while the process was suspended. Other
	// replicas are elected as soon as the Lease is free, so the term ends first.
	t.mu.Lock()
	ran := time.Now().Before(t.until)
	t.until = time.Time{}
	t.mu.Unlock()
	if !ran {
		return errLost
	}
	return t.Interface.Update(ctx, record) //nolint:wrapcheck // the elector looks at it
}

// hold extends the term if write, which writes this replica into the Lease, succeeds. This replica counts
// from the time before the write, and other replicas from the time at which they see it.
func (t *term) hold(ctx context.Context, write func() error) error {
	until := time.Now().Add(leaseDuration)
	err := write()
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		t.log(ctx, err)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Before(until) && !now.Before(t.until) {
		t.logger.Info("This replica writes status")
		close(t.changed)
		t.changed = make(chan struct{})
	}
	t.until = until
	return nil
}

// log logs an error, unless the error before was of the same kind.
func (t *term) log(ctx context.Context, err error) {
	kind := fmt.Sprintf("%q", apierrors.ReasonForError(err))
	switch {
	case err == nil:
		t.logged = ""
	case ctx.Err() == nil && kind != t.logged:
		t.logged = kind
		if apierrors.IsForbidden(err) {
			err = fmt.Errorf("%w; grant create, get and update on Leases in the operator's namespace, as the Role graphview-manager of config/rbac and of the chart does", err)
		}
		t.logger.Error(err, "Cannot use the Lease by which the writer of status is elected; trying again", "lease", t.Describe())
	}
}
