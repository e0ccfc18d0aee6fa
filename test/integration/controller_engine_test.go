package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
)

// rightsInterval is the time between an engine's questions about the rights of a ServiceAccount.
const rightsInterval = time.Second

// startEngine runs an engine that reads as one user, and the controller for one
// namespace as another, until the test ends.
func startEngine(t *testing.T, namespace string, reader, writer *rest.Config) {
	t.Helper()
	notifier := &controllers.Notifier{}
	engine, err := graphview.NewEngine(graphview.Options{
		Config: reader, Logger: testr.New(t), Notify: notifier.Notify, RightsInterval: rightsInterval,
	})
	if err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, engine.Run)
	startController(t, writer, namespace, engine, notifier, controllers.Options{StatusInterval: 100 * time.Millisecond})
}

func createConfigMap(t *testing.T, c client.Client, namespace, name string) {
	t.Helper()
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
}

// waitVertices waits until the view's status counts that many vertices.
func waitVertices(t *testing.T, c client.Client, view *v1alpha1.GraphView, want int64) {
	t.Helper()
	eventually(t, soon, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
			return err.Error()
		}
		if view.Status.Vertices != want {
			return fmt.Sprintf("%d vertices, want %d; status %+v", view.Status.Vertices, want, view.Status)
		}
		return ""
	})
}

func TestGraphViewBecomesReady(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMap(t, c, namespace, "one")
	startEngine(t, namespace, cluster.Config(), cluster.Config())
	view := configMapsView(namespace)
	// The controller manager adds kube-root-ca.crt when it likes.
	view.Spec.Queries[0].Include.Object = &v1alpha1.ObjectFilter{ObjectSelectorExpression: "name != 'kube-root-ca.crt'"}
	create(t, c, view)
	waitOutcomes(t, c, view, outcomeReady...)
	waitVertices(t, c, view, 1)
	if got := view.Status; got.ResourceCount != 1 || len(got.Resources) != 1 || got.Resources[0].Resource != "configmaps" || !got.Resources[0].Synced {
		t.Errorf("status %+v, want configmaps, synced", got)
	}

	createConfigMap(t, c, namespace, "two")
	waitVertices(t, c, view, 2)

	// An edit changes the graph; the status speaks of the new generation.
	view.Spec.Queries[0].Include.Object.ObjectSelectorExpression = "name == 'two'"
	updateSpec(t, c, view)
	waitOutcomes(t, c, view, outcomeReady...)
	waitVertices(t, c, view, 1)
	if _, err := cluster.Kubectl(t.Context(), "wait", "--for=condition=Ready", "gv/view", "-n", namespace, fixture.Timeout()); err != nil {
		t.Error(err)
	}

	// Made again under the same name it is another view.
	remove(t, c, view)
	again := configMapsView(namespace)
	again.Spec.Queries[0].Include.Object = &v1alpha1.ObjectFilter{ObjectSelectorExpression: "name in ['one', 'two']"}
	create(t, c, again)
	waitOutcomes(t, c, again, outcomeReady...)
	waitVertices(t, c, again, 2)
}

func TestGraphViewIsRefusedWithTheCompilersMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change      func(*v1alpha1.GraphViewSpec)
		wantReason  string
		wantMessage string
	}{
		"resource expression": {
			change: func(s *v1alpha1.GraphViewSpec) {
				s.Queries[0].Include.ResourceSelectorExpression = "group == 1"
			},
			wantReason:  v1alpha1.ReasonInvalidExpression,
			wantMessage: "spec.queries[0].include.resourceSelectorExpression",
		},
		"root expression": {
			change: func(s *v1alpha1.GraphViewSpec) {
				s.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"true", "nobody"}}
			},
			wantReason:  v1alpha1.ReasonInvalidExpression,
			wantMessage: "spec.roots.objectSelectorExpressions[1]",
		},
		"label selector": {
			change: func(s *v1alpha1.GraphViewSpec) {
				s.Queries[0].Include.Object = &v1alpha1.ObjectFilter{LabelSelector: "a in"}
			},
			wantReason:  v1alpha1.ReasonInvalidSelector,
			wantMessage: "spec.queries[0].include.object.labelSelector",
		},
		"JSONPath": {
			change: func(s *v1alpha1.GraphViewSpec) {
				s.Queries[0].Include.Object = &v1alpha1.ObjectFilter{JSONPath: "{.status"}
			},
			wantReason:  v1alpha1.ReasonInvalidJSONPath,
			wantMessage: "spec.queries[0].include.object.jsonPath",
		},
	}
	c := newClient(t)
	namespace := newNamespace(t, c)
	startEngine(t, namespace, cluster.Config(), cluster.Config())
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			view := configMapsView(namespace)
			view.Name = "refused-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
			tt.change(&view.Spec)
			create(t, c, view)
			waitOutcomes(t, c, view, outcomeRefused(tt.wantReason)...)
			if got := meta.FindStatusCondition(view.Status.Conditions, v1alpha1.ConditionAccepted).Message; !strings.Contains(got, tt.wantMessage) {
				t.Errorf("Accepted says %q, want something about %s", got, tt.wantMessage)
			}
			mended := configMapsView(namespace)
			view.Spec = mended.Spec
			updateSpec(t, c, view)
			waitOutcomes(t, c, view, outcomeReady...)
		})
	}
}

// TestGraphViewNamesUnreadableResources: an operator that may read ConfigMaps
// alone serves those, and says of Secrets that it cannot.
func TestGraphViewNamesUnreadableResources(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"list", "watch"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: namespace}},
	}
	for _, object := range []client.Object{role, binding} {
		create(t, c, object)
	}
	fixture.Authorized(t, c, binding.Subjects, "", role.Rules...)
	startEngine(t, namespace, cluster.ClientConfig(namespace), cluster.Config())
	view := configMapsView(namespace)
	view.Spec.Queries[0].Include.ResourceSelectorExpression = "group == '' && resource in ['configmaps', 'secrets']"
	create(t, c, view)
	waitOutcomes(t, c, view, "Accepted=True/Accepted", "Complete=False/ResourcesUnreadable", "Ready=True/Ready")
	if got := meta.FindStatusCondition(view.Status.Conditions, v1alpha1.ConditionComplete).Message; !strings.HasPrefix(got, "secrets: ") {
		t.Errorf("Complete says %q, want it to name secrets", got)
	}

	// Allowed later, it heals by itself.
	role.Rules[0].Resources = append(role.Rules[0].Resources, "secrets")
	if err := c.Update(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	eventually(t, 90*time.Second, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
			return err.Error()
		}
		if !meta.IsStatusConditionTrue(view.Status.Conditions, v1alpha1.ConditionComplete) {
			return fmt.Sprintf("still not complete: %+v", view.Status)
		}
		return ""
	})
}
