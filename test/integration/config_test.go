package integration

import (
	"fmt"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestConfig applies what is shipped to a control plane of its own: an
// APIService whose operator does not run would disturb the other tests.
func TestConfig(t *testing.T) {
	t.Parallel()
	plane := env.StartT(t, env.Options{ControllerManager: true})
	c, err := client.New(plane.Config(), client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join("..", "..", "config")
	apply := func(name string) {
		t.Helper()
		fixture.Kubectl(t, plane, "apply", "-k", filepath.Join(config, name))
	}
	apply("crd")
	fixture.Kubectl(t, plane, "wait", "--for=condition=Established", "crd/graphviews.graphview.dev", fixture.Timeout())
	apply("default")
	apply("samples")

	t.Run("pods are admitted", func(t *testing.T) {
		for _, labels := range []client.MatchingLabels{
			{"app.kubernetes.io/name": "graphview", "app.kubernetes.io/component": "manager"},
			{"app.kubernetes.io/name": "web"},
			{"app.kubernetes.io/name": "worker"},
		} {
			eventually(t, soon, func() string {
				var pods corev1.PodList
				if err := c.List(t.Context(), &pods, labels); err != nil {
					return err.Error()
				}
				if len(pods.Items) == 0 {
					return labels["app.kubernetes.io/name"] + " has no pods: is it forbidden by the namespace's pod security?"
				}
				return ""
			})
		}
	})
	t.Run("the Service finds the operator's port", func(t *testing.T) {
		var service corev1.Service
		if err := c.Get(t.Context(), types.NamespacedName{Namespace: "graphview-system", Name: "graphview"}, &service); err != nil {
			t.Fatal(err)
		}
		var deployment appsv1.Deployment
		if err := c.Get(t.Context(), types.NamespacedName{Namespace: "graphview-system", Name: "graphview-manager"}, &deployment); err != nil {
			t.Fatal(err)
		}
		ports := map[string]bool{}
		for _, port := range deployment.Spec.Template.Spec.Containers[0].Ports {
			ports[port.Name] = true
		}
		if name := service.Spec.Ports[0].TargetPort.StrVal; !ports[name] {
			t.Errorf("the Service's port leads to %q, the container has %v", name, ports)
		}
	})
	t.Run("samples are served as the operator and their ServiceAccount may", func(t *testing.T) {
		operator, err := plane.ServiceAccountConfig(t.Context(), "graphview-system", "graphview-manager")
		if err != nil {
			t.Fatal(err)
		}
		startEngine(t, "shop", operator, operator)
		for _, name := range []string{"storefront", "everything", "application", "team"} {
			view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
			waitOutcomes(t, c, view, outcomeReady...)
		}
		storefront := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "storefront"}}
		eventually(t, soon, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(storefront), storefront); err != nil {
				return err.Error()
			}
			// The Deployment and the Service are roots; below them are at least a
			// ReplicaSet, two Pods, and what those mount.
			if got := storefront.Status; got.Roots != 2 || got.Vertices < 9 || got.Arcs < 9 {
				return fmt.Sprintf("roots %d, vertices %d, arcs %d", got.Roots, got.Vertices, got.Arcs)
			}
			return ""
		})
		wantEvents(t, c, storefront, "Normal Accepted Compile", "Normal Complete Read", "Normal Ready Serve")
	})
	t.Run("rights", func(t *testing.T) { testShippedRights(t, plane, c) })
}

func testShippedRights(t *testing.T, plane *env.ControlPlane, c client.Client) {
	fixture.Kubectl(t, plane, "create", "rolebinding", "reader", "-n", "shop", "--clusterrole=view", "--user=reader")
	const operator = "system:serviceaccount:graphview-system:graphview-manager"
	type rights = authorizationv1.ResourceAttributes
	tests := map[string]struct {
		user     string
		question rights
		want     bool
	}{
		"operator lists everything":              {operator, rights{Verb: "list", Resource: "secrets"}, true},
		"operator watches everything":            {operator, rights{Verb: "watch", Group: "example.com", Resource: "widgets"}, true},
		"operator does not read single Secrets":  {operator, rights{Verb: "get", Resource: "secrets", Namespace: "shop"}, false},
		"operator does not open shells":          {operator, rights{Verb: "get", Resource: "pods", Subresource: "exec", Namespace: "shop"}, false},
		"operator does not pass through nodes":   {operator, rights{Verb: "get", Resource: "nodes", Subresource: "proxy"}, false},
		"operator changes nothing":               {operator, rights{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop"}, false},
		"operator writes status":                 {operator, rights{Verb: "patch", Group: "graphview.dev", Resource: "graphviews", Subresource: "status", Namespace: "shop"}, true},
		"operator does not write specs":          {operator, rights{Verb: "patch", Group: "graphview.dev", Resource: "graphviews", Namespace: "shop"}, false},
		"operator makes Events":                  {operator, rights{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "shop"}, true},
		"operator renews its Lease":              {operator, rights{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "graphview-system"}, true},
		"operator renews no Lease elsewhere":     {operator, rights{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "shop"}, false},
		"operator asks who subscribers are":      {operator, rights{Verb: "create", Group: "authentication.k8s.io", Resource: "tokenreviews"}, true},
		"operator asks what they may do":         {operator, rights{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, true},
		"operator reads the front proxy's CA":    {operator, rights{Verb: "get", Resource: "configmaps", Name: "extension-apiserver-authentication", Namespace: "kube-system"}, true},
		"operator writes no webhook":             {operator, rights{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations", Name: "graphview"}, false},
		"operator writes its own CA":             {operator, rights{Verb: "patch", Group: "apiregistration.k8s.io", Resource: "apiservices", Name: "v1alpha1.stream.graphview.dev"}, true},
		"operator does not write others' CAs":    {operator, rights{Verb: "patch", Group: "apiregistration.k8s.io", Resource: "apiservices", Name: "v1beta1.metrics.k8s.io"}, false},
		"viewer opens graphs":                    {"reader", rights{Verb: "watch", Group: "stream.graphview.dev", Resource: "graphs", Namespace: "shop"}, true},
		"viewer opens graphs there alone":        {"reader", rights{Verb: "watch", Group: "stream.graphview.dev", Resource: "graphs", Namespace: "default"}, false},
		"viewer reads GraphViews":                {"reader", rights{Verb: "get", Group: "graphview.dev", Resource: "graphviews", Namespace: "shop"}, true},
		"viewer does not write GraphViews":       {"reader", rights{Verb: "create", Group: "graphview.dev", Resource: "graphviews", Namespace: "shop"}, false},
		"a stranger opens no multiplexed stream": {"stranger", rights{Verb: "watch", Group: "stream.graphview.dev", Resource: "streams"}, false},
		"a stranger opens no graph":              {"stranger", rights{Verb: "watch", Group: "stream.graphview.dev", Resource: "graphs", Namespace: "shop"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			eventually(t, soon, func() string {
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: tt.user, Groups: []string{"system:authenticated"}, ResourceAttributes: &tt.question,
				}}
				if err := c.Create(t.Context(), review); err != nil {
					return err.Error()
				}
				// Aggregated roles take a moment to form.
				if review.Status.Allowed != tt.want {
					return fmt.Sprintf("allowed: %t, want %t", review.Status.Allowed, tt.want)
				}
				return ""
			})
		})
	}
}
