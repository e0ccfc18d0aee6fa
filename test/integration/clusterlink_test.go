package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
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

// TestClusterLinkNames: the API server refuses a name of no known type or form, and a name that two ClusterLinks have
// is without effect until one of them is deleted.
func TestClusterLinkNames(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	linkOf := func(known v1alpha1.ClusterName) *v1alpha1.ClusterLink {
		link := &v1alpha1.ClusterLink{Spec: v1alpha1.ClusterLinkSpec{KnownAs: []v1alpha1.ClusterName{known}, Identity: v1alpha1.ClusterLinkIdentity{
			Issuer: "https://kubernetes.default.svc", Subject: "system:serviceaccount:graphview-system:graphview-manager",
		}}}
		link.GenerateName = "names-"
		return link
	}
	for want, known := range map[string]v1alpha1.ClusterName{
		"spec.knownAs[0].type: Unsupported value":     {Type: "argo", Name: "https://eu.example.com"},
		"spec.knownAs[0].name: Required":              {Type: v1alpha1.ClusterNameArgoCD},
		"kubeconfig and capi is NAMESPACE/NAME":       {Type: v1alpha1.ClusterNameCAPI, Name: "eu"},
		"types kubeconfig and capi is NAMESPACE/NAME": {Type: v1alpha1.ClusterNameKubeconfig, Name: "flux/a/b"},
	} {
		if err := c.Create(t.Context(), linkOf(known)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", known, err, want)
		}
	}
	one, other := linkOf(v1alpha1.ClusterName{Type: v1alpha1.ClusterNameCAPI, Name: "fleet/eu"}), linkOf(v1alpha1.ClusterName{Type: v1alpha1.ClusterNameCAPI, Name: "fleet/eu"})
	create(t, c, one)
	create(t, c, other)
	election := newElection(t, namespace, "names")
	mgr := newManager(t, cluster.Config(), func(*ctrl.Options) {})
	if err := controllers.NewClusterLinkReconciler(tunnels(1), &controllers.Notifier{}, controllers.Options{Election: election}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, mgr.Start)
	fixture.Start(t, election.Run)
	awaitReason := func(want string) {
		t.Helper()
		eventually(t, soon, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil {
				return err.Error()
			}
			if condition := meta.FindStatusCondition(one.Status.Conditions, v1alpha1.ConditionEffective); condition == nil || condition.Reason != want {
				return fmt.Sprintf("%+v, want %s", condition, want)
			}
			return ""
		})
	}
	awaitReason(v1alpha1.ReasonNameNotUnique)
	remove(t, c, other)
	awaitReason(v1alpha1.ReasonEffective)
	if !meta.IsStatusConditionTrue(one.Status.Conditions, v1alpha1.ConditionReady) {
		t.Errorf("%+v", one.Status.Conditions)
	}
}
