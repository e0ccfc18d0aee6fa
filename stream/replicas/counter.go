package replicas

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"
)

const (
	// leasePrefix is the prefix of the names of all Leases of replicas.
	leasePrefix = "graphview-replica-"
	// componentLabel distinguishes the Leases of replicas from other Leases.
	componentLabel = "app.kubernetes.io/component"
	component      = "graphview-replica"

	// renewal is the interval at which a replica renews its Lease and lists all.
	renewal = 5 * time.Second
	// missedRenewals is the number of consecutive lists with an unchanged Lease after which its replica does not
	// count any more.
	missedRenewals = 3
	// leaveWithin bounds the deletion of a replica's own Lease when it stops.
	leaveWithin = 3 * time.Second
)

// Options of a Counter. Leases and Name are required.
type Options struct {
	// Leases are those of the operator's namespace.
	Leases coordinationclient.LeaseInterface
	// Name is that of this replica's pod, which stays the same across container restarts.
	Name string
	// Owner is this replica's Pod, which owns its Lease. Nil: the Lease has no owner.
	Owner  *metav1.OwnerReference
	Logger logr.Logger
}

// Counter counts the replicas of this operator.
type Counter struct {
	o Options
	// seen and logged belong to Run.
	seen   map[types.UID]observation
	logged string

	mu      sync.Mutex
	count   int
	changed chan struct{} // closed at the next change
}

// observation is a Lease as listed last.
type observation struct {
	version string
	missed  int // lists since it was renewed
}

// New returns a Counter that counts this replica alone before Run.
func New(o Options) *Counter {
	return &Counter{o: o, count: 1, changed: make(chan struct{})}
}

// Count returns the number of replicas, this one included.
func (c *Counter) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Changed is closed when Count next changes.
func (c *Counter) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Run counts until ctx is done, and then deletes the Lease of this replica.
func (c *Counter) Run(ctx context.Context) error {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for {
		round, cancel := context.WithTimeout(ctx, renewal)
		err := c.round(round)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			c.logged = ""
		case err.Error() != c.logged:
			c.logged = err.Error()
			c.o.Logger.Error(err, "Cannot count the replicas of the hub; members keep their tunnels", "count", c.Count())
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			c.leave(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// round renews the Lease of this replica and counts all.
func (c *Counter) round(ctx context.Context) error {
	list, err := c.o.Leases.List(ctx, metav1.ListOptions{LabelSelector: componentLabel + "=" + component})
	if err != nil {
		return fmt.Errorf("list Leases: %w", err)
	}
	var own *coordinationv1.Lease
	count, seen := 1, make(map[types.UID]observation, len(list.Items))
	for i := range list.Items {
		lease := &list.Items[i]
		if lease.Name == leasePrefix+c.o.Name {
			own = lease
			continue
		}
		now, last := observation{version: lease.ResourceVersion}, c.seen[lease.UID]
		if now.version == last.version {
			now.missed = last.missed + 1
		}
		seen[lease.UID] = now
		if now.missed < missedRenewals {
			count++
			continue
		}
		// After an error, the next round tries again. A replica that was suspended creates it again.
		_ = c.o.Leases.Delete(ctx, lease.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
		})
	}
	c.seen = seen
	c.set(count)
	return c.renew(ctx, own)
}

// renew writes the Lease of this replica. One of an earlier run of the pod is taken over.
func (c *Counter) renew(ctx context.Context, own *coordinationv1.Lease) error {
	write := func(lease *coordinationv1.Lease) error {
		_, err := c.o.Leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	}
	if own == nil {
		own = &coordinationv1.Lease{}
		own.Name, own.Labels = leasePrefix+c.o.Name, map[string]string{"app.kubernetes.io/name": "graphview", componentLabel: component}
		write = func(lease *coordinationv1.Lease) error {
			_, err := c.o.Leases.Create(ctx, lease, metav1.CreateOptions{})
			return err
		}
	}
	if c.o.Owner != nil {
		own.OwnerReferences = []metav1.OwnerReference{*c.o.Owner}
	}
	own.Spec.HolderIdentity, own.Spec.RenewTime = &c.o.Name, new(metav1.NowMicro())
	own.Spec.LeaseDurationSeconds = ptr.To(int32(missedRenewals * renewal / time.Second))
	if err := write(own); err != nil {
		return fmt.Errorf("renew Lease: %w", err)
	}
	return nil
}

func (c *Counter) set(count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if count == c.count {
		return
	}
	c.count = count
	close(c.changed)
	c.changed = make(chan struct{})
	c.o.Logger.Info("The number of replicas changed", "replicas", count)
}

// leave deletes the Lease of this replica.
func (c *Counter) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	err := c.o.Leases.Delete(ctx, leasePrefix+c.o.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		c.o.Logger.Error(err, "The Lease of this replica stays until other replicas delete it")
	}
}
