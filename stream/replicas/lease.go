package replicas

import (
	"context"
	"net"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// leaseName is what the name of each replica's Lease begins with.
	leaseName = "graphview-replica-"
	// componentLabel tells the Leases of replicas from the others.
	componentLabel = "app.kubernetes.io/component"
	component      = "graphview-replica"

	addressAnnotation = "graphview.dev/address"
	wireAnnotation    = "graphview.dev/relay-version"
)

// Leases are those of the operator's namespace. It is a part of client-go's
// LeaseInterface.
type Leases interface {
	List(ctx context.Context, o metav1.ListOptions) (*coordinationv1.LeaseList, error)
	Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error)
	Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
}

// fill makes a Lease that of a member, renewed now.
func fill(lease *coordinationv1.Lease, m Member, now time.Time) {
	lease.Name = leaseName + m.Run
	if lease.Labels == nil {
		lease.Labels = make(map[string]string)
	}
	lease.Labels["app.kubernetes.io/name"], lease.Labels[componentLabel] = "graphview", component
	if lease.Annotations == nil {
		lease.Annotations = make(map[string]string)
	}
	lease.Annotations[addressAnnotation], lease.Annotations[wireAnnotation] = m.Address, m.Wire
	lease.Spec.HolderIdentity = new(m.Run)
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(expiry / time.Second))
	lease.Spec.RenewTime = new(metav1.NewMicroTime(now))
}

// memberOf reads a Lease; false where it is not that of a replica. Whatever the address
// of another version than one's own looks like, nobody asks there.
func memberOf(lease *coordinationv1.Lease, own string) (Member, bool) {
	m := Member{Run: ptr.Deref(lease.Spec.HolderIdentity, ""), Address: lease.Annotations[addressAnnotation], Wire: lease.Annotations[wireAnnotation]}
	if m.Run == "" || lease.Name != leaseName+m.Run || m.Wire == "" {
		return Member{}, false
	}
	host, _, err := net.SplitHostPort(m.Address)
	return m, m.Wire != own || err == nil && host != ""
}
