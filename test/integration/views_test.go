package integration

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/oracle"
)

// configMaps is a view of the ConfigMaps in some namespaces.
func configMaps(namespaces ...string) oracle.View {
	return oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource == 'configmaps'"}}},
		Namespaces: &oracle.Namespaces{Names: namespaces},
	}
}

func createConfigMaps(t *testing.T, c client.Client, namespace string, n int) {
	t.Helper()
	for i := range n {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("c", i), Labels: map[string]string{"parity": fmt.Sprint(i % 2)}}}
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// mustApply applies a view and returns it.
func mustApply(t *testing.T, e *graphview.Engine, name string, v oracle.View) *graphview.View {
	t.Helper()
	n := graphview.Name{Namespace: "views", Name: name}
	if err := e.Apply(t.Context(), n, "uid-"+name, specOf(t, v)); err != nil {
		t.Fatal(err)
	}
	view, ok := e.View(n)
	if !ok {
		t.Fatalf("no view %s", n)
	}
	return view
}

// becomes waits until a follower has the oracle's graph of a view.
func becomes(t *testing.T, f *graphFollower, v oracle.View) {
	t.Helper()
	eventually(t, 30*time.Second, func() string {
		want, err := oracle.Build(t.Context(), cluster.Config(), v)
		if err != nil {
			t.Fatal(err)
		}
		return f.Differs(want)
	})
}

// TestViewsShareWatches: views with the same resource, namespace and selectors share a watch
// and a graph, which end with the last of the views.
func TestViewsShareWatches(t *testing.T) {
	const more = 20
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMaps(t, c, namespace, 5)
	e := runEngine(t, graphview.Options{})
	view := configMaps(namespace)
	other := configMaps(namespace)
	other.Queries[0].Include.Object.ObjectSelectorExpression = "'parity' in labels && labels['parity'] == '0'"

	first := mustApply(t, e, "first", view)
	if err := first.WaitSynced(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A view is synced after the list. The connection of its watch has all its goroutines once an event came.
	synced := e.Size().Nodes
	create(t, c, configMap(namespace, "event", ""))
	eventually(t, 10*time.Second, func() string {
		if got := e.Size().Nodes; got != synced+1 {
			return fmt.Sprintf("%d objects, want %d", got, synced+1)
		}
		return ""
	})
	runtime.GC()
	before, size := runtime.NumGoroutine(), e.Size()
	for i := range more {
		if err := mustApply(t, e, fmt.Sprint("more", i), other).WaitSynced(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.Watches(); got != 1 {
		t.Errorf("%d watches for %d views of one resource, want 1", got, 1+more)
	}
	if got := e.Size(); got.Nodes != size.Nodes || got.Arcs != size.Arcs {
		t.Errorf("the graph grew with views: %+v, was %+v", got, size)
	}
	for i := range more {
		e.Remove(graphview.Name{Namespace: "views", Name: fmt.Sprint("more", i)})
	}
	eventually(t, 10*time.Second, func() string {
		// Views that each left one behind would leave twice as many. Discovery has its own, which come and go.
		if got := runtime.NumGoroutine(); got >= before+more/2 {
			return fmt.Sprintf("%d goroutines, were %d before %d more views", got, before, more)
		}
		if got := e.Size(); got != size {
			return fmt.Sprintf("%+v is left, was %+v", got, size)
		}
		return ""
	})
	e.Remove(graphview.Name{Namespace: "views", Name: "first"})
	eventually(t, 10*time.Second, func() string {
		if got := e.Watches(); got != 0 {
			return fmt.Sprintf("%d watches are left", got)
		}
		if got := e.Size(); got.Nodes+got.Slots+got.Arcs+got.Lenses != 0 {
			return fmt.Sprintf("%+v is left", got)
		}
		return ""
	})
}

// TestSpecChangeSendsTheDifference: a stream goes on when its view's spec
// changes, and nothing that stays is sent again.
func TestSpecChangeSendsTheDifference(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 6)
	createConfigMaps(t, c, blue, 6)
	e := runEngine(t, graphview.Options{})
	even := configMaps(red, blue)
	even.Queries[0].Include.Object.LabelSelector = "parity=0"
	expression := configMaps(red, blue)
	expression.Queries[0].Include.Object.ObjectSelectorExpression = "name in ['c0', 'c1', 'c2']"
	everywhere := configMaps(red, blue)
	everywhere.Namespaces = &oracle.Namespaces{ObjectSelectorExpression: fmt.Sprintf("name in ['%s', '%s']", red, blue)}
	rooted := configMaps(red, blue)
	rooted.Roots = &oracle.Roots{ObjectSelectorExpressions: []string{"name == 'c3'"}}

	f := follow(t.Context(), mustApply(t, e, "view", configMaps(red)))
	becomes(t, f, configMaps(red))
	for _, v := range []oracle.View{configMaps(red, blue), even, expression, everywhere, rooted, configMaps(blue), configMaps(red)} {
		mustApply(t, e, "view", v)
		becomes(t, f, v)
	}
	if n := f.Redundant(); n != 0 {
		t.Errorf("%d elements were sent again though they stayed as they were", n)
	}
}

// TestInvalidSpecEndsStreams: and a mended one is served again.
func TestInvalidSpecEndsStreams(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	e := runEngine(t, graphview.Options{})
	v := configMaps(namespace)
	view := mustApply(t, e, "view", v)
	f := follow(t.Context(), view)
	becomes(t, f, v)

	bad := specOf(t, v)
	bad.Queries[0].Include.ResourceSelectorExpression = "group =="
	var invalid *spec.InvalidError
	if err := e.Apply(t.Context(), view.Name(), view.UID(), bad); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "spec.queries[0].include.resourceSelectorExpression") {
		t.Fatalf("Apply: %v", err)
	}
	<-f.done
	var closed *delivery.ClosedError
	if !errors.As(f.Err(), &closed) || closed.Reason != reason.Invalid || closed.Message != invalid.Error() {
		t.Errorf("the stream ended with %v", f.Err())
	}
	eventually(t, 10*time.Second, func() string {
		if n := e.Watches(); n != 0 {
			return fmt.Sprintf("%d watches are held by a view that is not served", n)
		}
		return ""
	})
	if err := e.Apply(t.Context(), view.Name(), view.UID(), specOf(t, v)); err != nil {
		t.Fatal(err)
	}
	becomes(t, follow(t.Context(), view), v)
}

// TestViewBeyondItsLimit is not served in part, and served again when its spec
// is narrowed.
func TestViewBeyondItsLimit(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMaps(t, c, namespace, 30)
	e := runEngine(t, graphview.Options{MaxVertices: 20})
	view := mustApply(t, e, "view", configMaps(namespace))
	f := follow(t.Context(), view)
	<-f.done
	var closed *delivery.ClosedError
	if !errors.As(f.Err(), &closed) || closed.Reason != reason.LimitExceeded {
		t.Errorf("the stream ended with %v", f.Err())
	}
	eventually(t, 10*time.Second, func() string {
		if s := view.Status(); s.LimitExceeded == "" || e.Watches() != 0 {
			return fmt.Sprintf("status %+v, %d watches", s, e.Watches())
		}
		return ""
	})
	narrow := configMaps(namespace)
	narrow.Queries[0].Include.Object.LabelSelector = "parity=1"
	mustApply(t, e, "view", narrow)
	becomes(t, follow(t.Context(), view), narrow)
}

// TestVersionSwitch replaces a resource's vertices in one revision when a newer
// version of it is served.
func TestVersionSwitch(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	if err := apiextensionsv1.AddToScheme(c.Scheme()); err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t, c)
	group := strings.ReplaceAll(namespace, "-", "") + ".example.com"
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{crdVersion("v1beta1", true)},
		},
	}
	create(t, c, crd)
	e := runEngine(t, graphview.Options{})
	v := configMaps(namespace)
	v.Queries = append(v.Queries, oracle.Query{Include: &oracle.Include{ResourceSelectorExpression: "group == '" + group + "'"}})
	f := follow(t.Context(), mustApply(t, e, "view", v))
	eventually(t, 30*time.Second, func() string {
		for i := range 3 {
			o := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": group + "/v1beta1", "kind": "Widget",
				"metadata": map[string]any{
					"namespace": namespace, "name": fmt.Sprint("w", i),
					"ownerReferences": []any{},
				},
			}}
			if err := client.IgnoreAlreadyExists(c.Create(t.Context(), o)); err != nil {
				return err.Error()
			}
		}
		return ""
	})
	becomes(t, f, v)
	old := schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: "widgets"}
	if n := countOf(f, old); n != 3 {
		t.Errorf("%d widgets of v1beta1, want 3", n)
	}

	patch := client.MergeFrom(crd.DeepCopy())
	crd.Spec.Versions[0].Storage = false
	crd.Spec.Versions = append(crd.Spec.Versions, crdVersion("v1", true))
	if err := c.Patch(t.Context(), crd, patch); err != nil {
		t.Fatal(err)
	}
	becomes(t, f, v)
	eventually(t, 30*time.Second, func() string {
		if was, is := countOf(f, old), countOf(f, schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}); was != 0 || is != 3 {
			return fmt.Sprintf("%d widgets of v1beta1 and %d of v1", was, is)
		}
		return ""
	})
	remove(t, c, crd)
	becomes(t, f, configMaps(namespace))
}

func countOf(f *graphFollower, r schema.GroupVersionResource) int {
	n := 0
	f.Look(func(c *oracle.Client) {
		for k := range c.Graph().Vertices {
			if k.Group == r.Group && k.Version == r.Version && k.Resource == r.Resource {
				n++
			}
		}
	})
	return n
}

func crdVersion(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
	preserve := true
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: storage,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: &preserve,
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", XPreserveUnknownFields: &preserve}},
		}},
	}
}
