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
	// renewal is how often a replica renews its own Lease and looks at the others.
	renewal = 5 * time.Second
	// expiry is how long a Lease may stay as it is before its replica counts as gone.
	expiry = 15 * time.Second
	// removal is when a Lease that nobody renews is deleted: its replica has crashed.
	removal = 5 * time.Minute
	// leaveWithin bounds the deletion of a replica's own Lease when it stops.
	leaveWithin = 3 * time.Second
)

// Options of Members. Leases and Self are required.
type Options struct {
	Leases Leases
	// Self is this replica.
	Self Member
	// Changed is told when the members are others than before. It must not block.
	Changed func()
	Logger  logr.Logger
}

// Members are the replicas that there are, as far as this one knows.
type Members struct {
	o Options
	// seen and listed are Run's own.
	seen   map[types.UID]sighting
	listed time.Time

	// known is closed when others were looked for, and joined when this replica is a member.
	known, joined chan struct{}

	mu   sync.Mutex
	live []Member // sorted by Run
}

// sighting is a Lease as it was when it was last seen to have changed.
type sighting struct {
	renewed time.Time // what it says, by its replica's clock
	at      time.Time // by ours
}

// New returns Members of which nothing is known before Run.
func New(o Options) *Members {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Members{o: o, seen: make(map[types.UID]sighting), known: make(chan struct{}), joined: make(chan struct{})}
}

// Known is closed when this replica has looked for others.
func (m *Members) Known() <-chan struct{} { return m.known }

// Joined is closed when the others can know of this replica.
func (m *Members) Joined() <-chan struct{} { return m.joined }

// closeOnce closes one of Run's channels.
func closeOnce(c chan struct{}) {
	if !closed(c) {
		close(c)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Live are the members, sorted by Run: this one too once Run has announced it. The
// slice is not to be changed.
func (m *Members) Live() []Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live
}

// Run announces this replica and follows the others until ctx is done. Then it
// withdraws: when it returns, those who look do not see this replica any more. The error
// is that the operator has no right to its Leases, so that it cannot join the others.
func (m *Members) Run(ctx context.Context) error {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	said, began := "", time.Now()
	for {
		round, cancel := context.WithTimeout(ctx, renewal)
		err := m.round(round)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			m.o.Logger.Error(err, "The Leases of replicas cannot be kept up; the members stay as they were")
		}
		if apierrors.IsForbidden(err) && !closed(m.joined) && time.Since(began) >= expiry {
			return fmt.Errorf("%w: replicas that share views need the right to create, delete, list and update Leases in the operator's namespace; config/components/sharing grants it, as does the chart with sharing.viewHolders", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return m.leave(context.WithoutCancel(ctx))
		}
	}
}

// round looks at all Leases and renews this replica's own.
func (m *Members) round(ctx context.Context) error {
	list, err := m.o.Leases.List(ctx, metav1.ListOptions{LabelSelector: componentLabel + "=" + component})
	if err != nil {
		return fmt.Errorf("list Leases: %w", err)
	}
	now := time.Now()
	// Who could not look for a while has not seen whether the others renewed.
	blind := m.listed.IsZero() || now.Sub(m.listed) > 2*renewal
	m.listed = now
	var own *coordinationv1.Lease
	var live []Member
	seen := make(map[types.UID]sighting, len(list.Items))
	for i := range list.Items {
		lease := &list.Items[i]
		if lease.Name == leaseName+m.o.Self.Run {
			own = lease
			continue
		}
		s, known := m.seen[lease.UID]
		if renewed := renewedAt(lease); !known || blind || !renewed.Equal(s.renewed) {
			s = sighting{renewed: renewed, at: now}
		}
		seen[lease.UID] = s
		member, ok := memberOf(lease, m.o.Self.Wire)
		switch age := now.Sub(s.at); {
		case age >= removal:
			m.remove(ctx, lease)
		case ok && age < expiry:
			live = append(live, member)
		}
	}
	m.seen = seen
	err = m.renew(ctx, own, now)
	m.set(live, err == nil)
	return err
}

func renewedAt(lease *coordinationv1.Lease) time.Time {
	if lease.Spec.RenewTime == nil {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Time
}

// renew writes this replica's Lease.
func (m *Members) renew(ctx context.Context, own *coordinationv1.Lease, now time.Time) error {
	if own == nil {
		lease := &coordinationv1.Lease{}
		fill(lease, m.o.Self, now)
		if _, err := m.o.Leases.Create(ctx, lease, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Lease: %w", err)
		}
		return nil
	}
	fill(own, m.o.Self, now)
	if _, err := m.o.Leases.Update(ctx, own, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("renew Lease: %w", err)
	}
	return nil
}

// remove deletes the Lease of a replica that is gone, unless it has changed since. An
// error is of no consequence: the next round tries again.
func (m *Members) remove(ctx context.Context, lease *coordinationv1.Lease) {
	_ = m.o.Leases.Delete(ctx, lease.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
	})
}

// set makes live, and this replica once it was announced, the members.
func (m *Members) set(live []Member, announced bool) {
	if announced {
		defer closeOnce(m.joined)
	}
	defer closeOnce(m.known)
	m.mu.Lock()
	if announced || closed(m.joined) {
		live = append(live, m.o.Self)
	}
	slices.SortFunc(live, func(a, b Member) int { return strings.Compare(a.Run, b.Run) })
	changed := !slices.Equal(live, m.live)
	m.live = live
	m.mu.Unlock()
	if changed {
		m.o.Logger.Info("The replicas that share views are others now", "members", len(live))
		m.o.Changed()
	}
}

// leave withdraws this replica, which is no member for itself any more either.
func (m *Members) leave(ctx context.Context) error {
	m.mu.Lock()
	m.live = slices.DeleteFunc(slices.Clone(m.live), func(other Member) bool { return other == m.o.Self })
	m.mu.Unlock()
	m.o.Changed()
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	err := m.o.Leases.Delete(ctx, leaseName+m.o.Self.Run, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		m.o.Logger.Error(err, "The Lease of this replica stays until the others see that nobody renews it")
	}
	return nil
}
