package integration

import (
	"fmt"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/test/fixture"
)

// tunnels is a hub with this number of tunnels to each member.
type tunnels int

func (tunnels) ApplyLink(string, v1alpha1.ClusterLinkSpec) error { return nil }
func (tunnels) RemoveLink(string)                                {}
func (tunnels) LinksKnown()                                      {}
func (n tunnels) LinkState(string) controllers.LinkState {
	return controllers.LinkState{Tunnels: int(n), Reason: v1alpha1.ReasonConnected, Message: "connected"}
}

// TestClusterLinkHandover: the replica that is elected writes the status of each ClusterLink, which
// is of the tunnels to the replica before.
func TestClusterLinkHandover(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	link := &v1alpha1.ClusterLink{Spec: v1alpha1.ClusterLinkSpec{Identity: v1alpha1.ClusterLinkIdentity{
		Issuer: "https://kubernetes.default.svc", Subject: "system:serviceaccount:graphview-system:graphview-manager",
	}}}
	link.GenerateName = "handover-"
	create(t, c, link)
	var stop func()
	for _, n := range []tunnels{2, 1} {
		election := newElection(t, namespace, fmt.Sprint("replica-", n))
		mgr := newManager(t, cluster.Config(), func(*ctrl.Options) {})
		if err := controllers.NewClusterLinkReconciler(n, &controllers.Notifier{}, controllers.Options{Election: election}).SetupWithManager(mgr); err != nil {
			t.Fatal(err)
		}
		fixture.Start(t, mgr.Start)
		if stop != nil {
			stop()
		}
		stop = fixture.Start(t, election.Run)
		eventually(t, soon, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(link), link); err != nil {
				return err.Error()
			}
			if link.Status.Tunnels != int32(n) {
				return "the status is not that of the elected replica"
			}
			return ""
		})
	}
}
