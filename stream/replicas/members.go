package replicas

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// renewal is the interval at which a replica renews its Lease and lists the others.
	renewal = 5 * time.Second
	// expiry is the time without a renewal after which a replica is gone.
	expiry = 15 * time.Second
	// removal is the time after which the Lease of a crashed replica is deleted. In a
	// cluster the garbage collector deletes it together with its Pod.
	removal = 5 * time.Minute
	// leaveWithin bounds the deletion of a replica's own Lease when it stops.
	leaveWithin = 3 * time.Second
)

// Options of Members. Leases and Self are required.
type Options struct {
	Leases Leases
	// Self is this replica.
	Self Member
	// Owner is this replica's Pod, which owns its Lease. Nil: the Lease has no owner.
	Owner *metav1.OwnerReference
	// Stale is called by Run when the API server stops answering this replica, and when it
	// answers again. Nil: not.
	Stale  func(stale bool)
	Logger logr.Logger
}

// Members are the live replicas, as far as this one knows.
type Members struct {
	o Options
	// seen, listed and announced belong to Run.
	seen      map[types.UID]observation
	listed    time.Time
	announced bool // this replica's Lease has been written
	stale     bool // the API server did not answer the last round

	joined chan struct{}

	mu      sync.Mutex
	renewed time.Time
	live    []Member      // sorted by Name; nil before this replica has joined
	changed chan struct{} // closed at the next change
}

// observation is a Lease as of its last renewal that this replica has seen.
type observation struct {
	renewed time.Time // by its replica's clock
	at      time.Time // by ours
	expired bool      // and has not been renewed since
}

// New returns Members that are empty before Run.
func New(o Options) *Members {
	if o.Stale == nil {
		o.Stale = func(bool) {}
	}
	return &Members{o: o, seen: make(map[types.UID]observation), joined: make(chan struct{}), changed: make(chan struct{})}
}

// Joined is closed when this replica has listed the others twice. It is a member itself
// unless its Lease could not be written.
func (m *Members) Joined() <-chan struct{} { return m.joined }

// Live returns the members, sorted by Name, this one included; none before Joined. The
// slice must not be modified.
func (m *Members) Live() []Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live
}

// Changed is closed when Live next changes.
func (m *Members) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// Renewed is the start of the last round in which the API server has answered.
func (m *Members) Renewed() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.renewed
}

// First reports whether this replica ranks first for a scope.
func (m *Members) First(scope string) bool {
	ranked := Rank(scope, m.Live())
	return len(ranked) > 0 && ranked[0] == m.o.Self
}

// Run announces this replica and follows the others until ctx is done. Then it deletes
// its Lease: when Run returns, replicas that list do not see this one any more. It
// returns an error only if the operator is not allowed to use Leases.
func (m *Members) Run(ctx context.Context) error {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	logged, began := "", time.Now()
	for {
		at := time.Now()
		round, cancel := context.WithTimeout(ctx, renewal)
		err := m.round(round)
		cancel()
		if ctx.Err() == nil {
			m.answered(at, err)
		}
		switch {
		case err == nil || ctx.Err() != nil:
			logged = ""
		case err.Error() != logged:
			logged = err.Error()
			m.o.Logger.Error(err, "Cannot renew or list replica Leases; keeping the last known members")
		}
		if apierrors.IsForbidden(err) && !m.announced && time.Since(began) >= expiry {
			return fmt.Errorf("%w: replicas need the right to create, delete, list and update Leases in the operator's namespace; the Role graphview-manager of config/rbac and of the chart grants it", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return m.leave(context.WithoutCancel(ctx))
		}
	}
}

// answered takes the result of a round that has begun at a time. A refusal is an answer.
func (m *Members) answered(at time.Time, err error) {
	stale := err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
	if !stale {
		m.mu.Lock()
		m.renewed = at
		m.mu.Unlock()
	}
	if stale != m.stale {
		m.stale = stale
		m.o.Stale(stale)
	}
}

func (m *Members) hasJoined() bool {
	select {
	case <-m.joined:
		return true
	default:
		return false
	}
}

// round lists all Leases and renews this replica's own.
func (m *Members) round(ctx context.Context) error {
	list, err := m.o.Leases.List(ctx, metav1.ListOptions{LabelSelector: componentLabel + "=" + component})
	if err != nil {
		return fmt.Errorf("list Leases: %w", err)
	}
	now := time.Now()
	// A replica that has not listed for a while has missed renewals.
	blind, again := now.Sub(m.listed) > 2*renewal, !m.listed.IsZero()
	m.listed = now
	var own *coordinationv1.Lease
	var live []Member
	seen := make(map[types.UID]observation, len(list.Items))
	for i := range list.Items {
		lease := &list.Items[i]
		if lease.Name == leasePrefix+m.o.Self.Name {
			own = lease
			continue
		}
		last, known := m.seen[lease.UID]
		o := observe(lease, last, known, blind, now)
		seen[lease.UID] = o
		if now.Sub(o.at) >= removal {
			m.remove(ctx, lease)
		}
		if member, ok := memberOf(lease, m.o.Self); ok && !o.expired {
			live = append(live, member)
		}
	}
	m.seen = seen
	if err = m.renew(ctx, own, now); err == nil {
		m.announced = true
	}
	if m.announced {
		live = append(live, m.o.Self)
	}
	if again {
		m.set(live)
	}
	return err
}

// observe returns what is known of a Lease after a list. An expired one stays expired
// until it is renewed.
func observe(lease *coordinationv1.Lease, last observation, known, blind bool, now time.Time) observation {
	renewed := time.Time{}
	if lease.Spec.RenewTime != nil {
		renewed = lease.Spec.RenewTime.Time
	}
	if !known || !renewed.Equal(last.renewed) || blind && !last.expired {
		return observation{renewed: renewed, at: now}
	}
	last.expired = now.Sub(last.at) >= expiry
	return last
}

// renew writes this replica's Lease. One of an earlier run of the pod is taken over.
func (m *Members) renew(ctx context.Context, own *coordinationv1.Lease, now time.Time) error {
	if own == nil {
		lease := &coordinationv1.Lease{}
		fill(lease, m.o.Self, m.o.Owner, now)
		if _, err := m.o.Leases.Create(ctx, lease, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Lease: %w", err)
		}
		return nil
	}
	fill(own, m.o.Self, m.o.Owner, now)
	if _, err := m.o.Leases.Update(ctx, own, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("renew Lease: %w", err)
	}
	return nil
}

// remove deletes the Lease of a crashed replica, unless it has changed since. After an
// error the next round tries again.
func (m *Members) remove(ctx context.Context, lease *coordinationv1.Lease) {
	_ = m.o.Leases.Delete(ctx, lease.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
	})
}

// set replaces the members.
func (m *Members) set(live []Member) {
	slices.SortFunc(live, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	m.mu.Lock()
	changed := !slices.Equal(live, m.live)
	m.live = live
	if changed {
		close(m.changed)
		m.changed = make(chan struct{})
	}
	m.mu.Unlock()
	if !m.hasJoined() {
		close(m.joined)
	}
	if changed {
		m.o.Logger.Info("Replica membership changed", "members", len(live))
	}
}

// leave deletes this replica's Lease, and its membership.
func (m *Members) leave(ctx context.Context) error {
	if m.hasJoined() {
		m.set(slices.DeleteFunc(slices.Clone(m.Live()), func(other Member) bool { return other == m.o.Self }))
	}
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	err := m.o.Leases.Delete(ctx, leasePrefix+m.o.Self.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		m.o.Logger.Error(err, "The Lease of this replica stays until it expires")
	}
	return nil
}
