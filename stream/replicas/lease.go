package replicas

import (
	"context"
	"net"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// leasePrefix is the prefix of the names of all Leases of replicas.
	leasePrefix = "graphview-replica-"
	// componentLabel distinguishes the Leases of replicas from other Leases.
	componentLabel = "app.kubernetes.io/component"
	component      = "graphview-replica"

	addressAnnotation = "graphview.dev/address"
	wireAnnotation    = "graphview.dev/relay-version"
)

// Leases are those of the operator's namespace: a part of client-go's LeaseInterface.
type Leases interface {
	List(ctx context.Context, o metav1.ListOptions) (*coordinationv1.LeaseList, error)
	Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error)
	Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
}

// fill writes a member into its Lease, renewed at now. The Lease is named after the
// member's pod, so that a restarted container takes over the Lease of the run before.
func fill(lease *coordinationv1.Lease, m Member, owner *metav1.OwnerReference, now time.Time) {
	lease.Name = leasePrefix + m.Name
	if owner != nil {
		lease.OwnerReferences = []metav1.OwnerReference{*owner}
	}
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

// memberOf reads a Lease; ok is false if it is not that of a replica. The address is
// checked only for own's relay version: no replica dials another version.
func memberOf(lease *coordinationv1.Lease, own Member) (m Member, ok bool) {
	name, named := strings.CutPrefix(lease.Name, leasePrefix)
	m = Member{
		Name: name, Run: ptr.Deref(lease.Spec.HolderIdentity, ""),
		Address: lease.Annotations[addressAnnotation], Wire: lease.Annotations[wireAnnotation],
	}
	if !named || name == "" || m.Run == "" || m.Wire == "" {
		return Member{}, false
	}
	host, _, err := net.SplitHostPort(m.Address)
	return m, m.Wire != own.Wire || m.Address == own.Address || err == nil && host != ""
}
