package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
	"graphview.dev/test/fixture"
)

// denied is what the webhook says in an error of the API server, "" if it did
// not refuse.
func denied(err error) string {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Reason != "Invalid" {
		return ""
	}
	text, found := strings.CutPrefix(status.ErrStatus.Message, fmt.Sprintf("admission webhook %q denied the request: ", webhookName))
	if !found {
		return ""
	}
	return text
}

func TestWebhookRefuses(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	port := installWebhook(t, c)
	server := startWebhook(t, port, certificateClock(), controllers.Options{})
	untilAsked(t, c, namespace)

	object := func(filter v1alpha1.ObjectFilter) func(*v1alpha1.GraphViewSpec) {
		return func(spec *v1alpha1.GraphViewSpec) { spec.Queries[0].Include.Object = &filter }
	}
	const query = "spec.queries[0].include."
	tests := map[string]struct {
		change func(*v1alpha1.GraphViewSpec)
		want   string // "": accepted
	}{
		"nothing wrong": {change: func(*v1alpha1.GraphViewSpec) {}},
		"all of it right": {change: object(v1alpha1.ObjectFilter{
			LabelSelector: "app in (web, db)", FieldSelector: "metadata.name=web", ObjectSelectorExpression: "'app' in labels", JSONPath: "{.data}",
		})},
		"unknown variable": {
			func(spec *v1alpha1.GraphViewSpec) {
				spec.Queries[0].Include.ResourceSelectorExpression = "group ==\n  grup"
			},
			query + `resourceSelectorExpression: line 2, column 3: unknown name or function 'grup'; the variables are group, version, resource, kind and namespaced: "group ==\n  grup"`,
		},
		"not a bool": {
			func(spec *v1alpha1.GraphViewSpec) { spec.Queries[0].Include.ResourceSelectorExpression = "group" },
			query + `resourceSelectorExpression: expression must evaluate to bool, not string: "group"`,
		},
		"assignment in the second query": {
			func(spec *v1alpha1.GraphViewSpec) {
				spec.Queries = append(spec.Queries, v1alpha1.Query{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: "group = 'apps'"}})
			},
			`spec.queries[1].exclude.resourceSelectorExpression: line 1, column 7: syntax error: unexpected '= '; == compares (and 1 more error): "group = 'apps'"`,
		},
		"label selector": {
			object(v1alpha1.ObjectFilter{LabelSelector: "a b"}),
			query + `object.labelSelector: line 1, column 3: invalid label selector: found 'b', expected: in, notin, =, ==, !=, gt, lt; expected requirements such as app=web, tier!=cache, env in (a, b), gpu or !legacy, joined by commas: "a b"`,
		},
		"field selector": {
			object(v1alpha1.ObjectFilter{FieldSelector: "a=b,c"}),
			query + `object.fieldSelector: line 1, column 5: invalid field selector: cannot understand 'c'; expected field=value, field==value or field!=value, joined by commas: "a=b,c"`,
		},
		"JSONPath": {
			object(v1alpha1.ObjectFilter{JSONPath: "{.a[}"}),
			query + `object.jsonPath: invalid JSONPath: a '[' is not closed; expected ']': "{.a[}"`,
		},
		"types of an object": {
			object(v1alpha1.ObjectFilter{ObjectSelectorExpression: "name == 1"}),
			query + `object.objectSelectorExpression: line 1, column 6: operator == cannot be applied to (string, int): "name == 1"`,
		},
		"roots": {
			func(spec *v1alpha1.GraphViewSpec) {
				spec.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"true", "labels"}}
			},
			`spec.roots.objectSelectorExpressions[1]: expression must evaluate to bool, not map(string, string): "labels"`,
		},
		"two fields": {
			func(spec *v1alpha1.GraphViewSpec) {
				spec.Queries[0].Include.ResourceSelectorExpression = "group"
				spec.Namespaces = &v1alpha1.Namespaces{FieldSelector: "=x"}
			},
			query + `resourceSelectorExpression: expression must evaluate to bool, not string: "group"; ` +
				`spec.namespaces.fieldSelector: field selector has no field before an operator; expected field=value, field==value or field!=value, joined by commas: "=x"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			view := configMapsView(namespace)
			tt.change(&view.Spec)
			err := c.Create(t.Context(), view, client.DryRunAll)
			if got := denied(err); got != tt.want || tt.want == "" && err != nil {
				t.Errorf("error %v\nwant %q", err, tt.want)
			}
		})
	}
	t.Run("samples are accepted", func(t *testing.T) { samplesAreAccepted(t, c, namespace) })
	t.Run("kubectl says the field and the remedy", func(t *testing.T) {
		err := fixture.TryApply(t, cluster, "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: bad, namespace: "+namespace+"}\n"+
			"spec: {queries: [{include: {resourceSelectorExpression: \"group = 'apps'\"}}]}\n")
		want := `The GraphView "bad" is invalid: ` + query + `resourceSelectorExpression: line 1, column 7: syntax error: unexpected '= '; == compares`
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("kubectl: %v\nwant %s", err, want)
		}
	})
	server.stop()

	t.Run("a ServiceAccount is required", func(t *testing.T) {
		startWebhook(t, port, server.clock, controllers.Options{RequireServiceAccount: true})
		untilAsked(t, c, namespace)
		view := configMapsView(namespace)
		got := denied(c.Create(t.Context(), view.DeepCopy(), client.DryRunAll))
		for _, want := range []string{"spec.serviceAccountName: this installation requires it.", "kubectl -n " + namespace + " create serviceaccount viewer"} {
			if !strings.Contains(got, want) {
				t.Errorf("says %q, want %s", got, want)
			}
		}
		view.Spec.ServiceAccountName = "not-there-yet"
		if err := c.Create(t.Context(), view, client.DryRunAll); err != nil {
			t.Error(err)
		}
	})
}

// TestWebhookIsReached: configuration, Service and Deployment agree on the way.
func TestWebhookIsReached(t *testing.T) {
	configuration, service, deployment := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &corev1.Service{}, &appsv1.Deployment{}
	// The webhook is an option, which adds a port to the base.
	rendered := fixture.Kubectl(t, cluster, "kustomize", filepath.Join("..", "..", "config", "with-webhook"))
	for document := range strings.SplitSeq(rendered, "\n---\n") {
		var err error
		switch {
		case strings.Contains(document, "\nkind: ValidatingWebhookConfiguration\n"):
			err = yaml.UnmarshalStrict([]byte(document), configuration)
		case strings.Contains(document, "\nkind: Service\n"):
			err = yaml.UnmarshalStrict([]byte(document), service)
		case strings.Contains(document, "\nkind: Deployment\n"):
			err = yaml.UnmarshalStrict([]byte(document), deployment)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	asked := configuration.Webhooks[0].ClientConfig.Service
	if asked.Name != service.Name || asked.Namespace != service.Namespace || service.Name != pki.ServiceName {
		t.Errorf("asks %s/%s", asked.Namespace, asked.Name)
	}
	var target string
	for _, port := range service.Spec.Ports {
		if port.Port == *asked.Port {
			target = port.TargetPort.StrVal
		}
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	for _, port := range container.Ports {
		if port.Name == target {
			if want := fmt.Sprintf("--webhook-bind-address=:%d", port.ContainerPort); !slices.Contains(container.Args, want) {
				t.Errorf("arguments %q, want %s", container.Args, want)
			}
			return
		}
	}
	t.Errorf("port %d leads to %q, which is no port of the container", *asked.Port, target)
}

func samplesAreAccepted(t *testing.T, c client.Client, namespace string) {
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "graphview_*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("samples %v: %v", files, err)
	}
	for _, file := range files {
		view := &v1alpha1.GraphView{}
		readShipped(t, view, "samples", filepath.Base(file))
		view.Namespace = namespace
		if err := c.Create(t.Context(), view, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestWebhookAndController: the controller stands behind the webhook and says
// the same; what got past the webhook can be edited and mended.
func TestWebhookAndController(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	startEngine(t, namespace, cluster.Config(), cluster.Config())
	port := installWebhook(t, c)
	server := startWebhook(t, port, certificateClock(), controllers.Options{})
	untilAsked(t, c, namespace)

	view := configMapsView(namespace)
	view.Spec.Queries[0].Include.ResourceSelectorExpression = "group = 'apps'"
	said := denied(c.Create(t.Context(), view.DeepCopy()))
	if said == "" {
		t.Fatal("not refused")
	}

	server.stop()
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatalf("without an answer: %v", err)
	}
	waitOutcomes(t, c, view, outcomeRefused("InvalidExpression")...)
	if got := meta.FindStatusCondition(view.Status.Conditions, "Accepted").Message; got != said {
		t.Errorf("the condition says %q\nthe webhook said %q", got, said)
	}

	startWebhook(t, port, server.clock, controllers.Options{})
	untilAsked(t, c, namespace)
	edit := func(change func(*v1alpha1.GraphView)) error {
		edited := &v1alpha1.GraphView{}
		var err error
		// The controller writes, too.
		eventually(t, soon, func() string {
			if err = c.Get(t.Context(), client.ObjectKeyFromObject(view), edited); err != nil {
				return err.Error()
			}
			change(edited)
			if err = c.Update(t.Context(), edited); apierrors.IsConflict(err) {
				return err.Error()
			}
			return ""
		})
		return err
	}
	for name, change := range map[string]func(*v1alpha1.GraphView){
		"a label":     func(v *v1alpha1.GraphView) { v.Labels = map[string]string{"a": "b"} },
		"a finalizer": func(v *v1alpha1.GraphView) { v.Finalizers = []string{"graphview.dev/test"} },
		"none":        func(v *v1alpha1.GraphView) { v.Finalizers = nil },
	} {
		if err := edit(change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	worse := func(v *v1alpha1.GraphView) {
		v.Spec.Queries[0].Include.ResourceSelectorExpression = "group = 'batch'"
	}
	if denied(edit(worse)) == "" {
		t.Error("another invalid spec is not refused")
	}
	if err := edit(func(v *v1alpha1.GraphView) {
		v.Finalizers = nil
		v.Spec.Queries[0].Include.ResourceSelectorExpression = "group == '' && resource == 'configmaps'"
	}); err != nil {
		t.Error(err)
	}
	waitOutcomes(t, c, view, outcomeReady...)
}
