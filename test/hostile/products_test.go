package hostile

import (
	"crypto/rand"
	"encoding/base64"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"graphview.dev/test/fixture"
)

var products = flag.Bool("products", false, "run all of TestProducts, also what takes half a minute of processor time each")

// TestProducts: one namespace takes two things at once to their limits, whose product takes more
// memory than the operator has. Some of its GraphViews say that the namespace holds too much;
// the GraphView of another namespace is served.
func TestProducts(t *testing.T) {
	terms := func(n, i int) string {
		var all []string
		for j := range n {
			all = append(all, fmt.Sprintf("has(obj.a%d_%d)", i, j))
		}
		return strings.Join(all, " && ")
	}
	for _, test := range []struct {
		name           string
		less           bool // memory
		views, objects int
		size           int // bytes of an object that do not compress
		fill           func(t *testing.T, namespace string, n, size int)
		edits          int // of each view
		spec           func(namespace string, i int) string
		wantRefused    bool
		atNight        bool // or with -products
	}{
		// Each view has a watch of its own, with its own copy of the objects. They are PodTemplates,
		// which no other test selects: where a watch of all namespaces has ConfigMaps for the views
		// of other tests, these would take from it. It comes first, because the views of another
		// product may leave such a watch of PodTemplates for a while.
		{name: "watches and objects", less: true, views: 10, objects: 24, size: 400_000, fill: fillTemplates, wantRefused: true, spec: func(namespace string, i int) string {
			return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'podtemplates'", object: {labelSelector: "x!=%d"}}}], namespaces: {names: [%s]}}`, i, namespace)
		}},
		{name: "views and text", atNight: true, views: 60, wantRefused: true, spec: func(_ string, i int) string {
			var queries []string
			for q := range 8 {
				queries = append(queries, fmt.Sprintf(`{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {objectSelectorExpression: %s}}}`, quoted(terms(340, 100*i+q))))
			}
			return fmt.Sprintf(`{queries: [%s], namespaces: {names: [absent]}}`, strings.Join(queries, ", "))
		}},
		{name: "views and objects", atNight: true, views: 180, objects: 6000, wantRefused: true, spec: func(namespace string, _ int) string {
			const path = `"{.metadata.name} {.metadata.namespace} {.metadata.uid} {.metadata.creationTimestamp}"`
			return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {jsonPath: %s}}}], namespaces: {names: [%s]}}`, path, namespace)
		}},
		// Each edit has another selector and other namespaces, so no watch of the spec before is of use.
		// Of more views, those with the most namespaces may exceed the share of the namespace for a while.
		{name: "edits and namespaces", views: 15, objects: 500, edits: 8, spec: func(namespace string, i int) string {
			names := []string{namespace}
			for n := range i % 9 {
				names = append(names, fmt.Sprintf("absent-%d", n))
			}
			return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "namespaced && group in ['', 'apps', 'batch']", object: {labelSelector: "x!=%d", objectSelectorExpression: "name != 'x%d'"}}}], namespaces: {names: [%s]}}`,
				i, i, strings.Join(names, ", "))
		}},
		{name: "views and rights", atNight: true, views: 40, wantRefused: true, spec: func(_ string, i int) string {
			var names []string
			for n := range 1000 {
				names = append(names, fmt.Sprintf("absent-%d-%d", i, n))
			}
			return fmt.Sprintf(`{serviceAccountName: default, queries: [{include: {resourceSelectorExpression: namespaced}}], namespaces: {names: [%s]}}`, strings.Join(names, ", "))
		}},
	} {
		if test.atNight && !*products {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			if test.less {
				withLess(t)
			}
			namespace, other := newNamespace(t, "products"), newNamespace(t, "newcomer")
			fixture.Apply(t, cluster, fmt.Sprintf("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %s}}", namespace))
			if test.fill == nil {
				test.fill = fillAtRandom
			}
			test.fill(t, namespace, test.objects, test.size)
			meanwhile(t, func(tries *tally) {
				defer deleteViews(t, namespace)
				var manifest strings.Builder
				for edit := range 1 + test.edits {
					for i := range test.views {
						manifest.WriteString(view(namespace, fmt.Sprintf("v%03d", i), test.spec(namespace, i+edit*test.views)))
						if i%20 == 19 || i == test.views-1 {
							apply(t, manifest.String())
							manifest.Reset()
						}
					}
				}
				apply(t, small(other, "new"))
				wantReady(t, other, "new")
				refused := settle(t, namespace)
				for range test.views - refused {
					tries.add("served")
				}
				for range refused {
					tries.add("refused")
				}
				if test.wantRefused && refused == 0 {
					t.Errorf("no GraphView of %d is refused", test.views)
				}
				if !test.wantRefused {
					wantReady(t, namespace) // one may be refused for a while
				}
				tries.measure(t)
			})
		})
	}
}

// fillAtRandom makes ConfigMaps with so many bytes that do not compress.
func fillAtRandom(t *testing.T, namespace string, n, size int) {
	t.Helper()
	fillWith(t, namespace, n, func(int) string { return textAtRandom(size) })
}

// fillTemplates makes PodTemplates with so many bytes that do not compress.
func fillTemplates(t *testing.T, namespace string, n, size int) {
	t.Helper()
	templates := resources(t, namespace, "podtemplates")
	inParallel(8, n, func(i int) {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "PodTemplate", "metadata": map[string]any{"name": fmt.Sprintf("t%d", i)},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name": "main", "image": "example.com/main", "env": []any{map[string]any{"name": "TEXT", "value": textAtRandom(size)}},
			}}}},
		}}
		if _, err := templates.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func textAtRandom(size int) string {
	content := make([]byte, size)
	_, _ = rand.Read(content) // never fails
	return base64.StdEncoding.EncodeToString(content)
}

// settle waits until each GraphView of a namespace is served or says that the namespace holds too
// much memory, and returns the number of the latter.
func settle(t *testing.T, namespace string) (refused int) {
	t.Helper()
	views := declaredT(t, namespace)
	list := func() []unstructured.Unstructured {
		all, err := views.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return all.Items
	}
	full := "False LimitExceeded the GraphViews, connections and objects of namespace " + namespace + " hold "
	// A list has megabytes of specs, so it is read again after each GraphView by itself was served or refused.
	waiting := list()
	fixture.Eventually(t, 10*time.Minute, time.Second, func() string {
		for ; len(waiting) > 0; waiting = waiting[1:] {
			o, err := views.Get(t.Context(), waiting[0].GetName(), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if ready := said(o, "Ready"); !strings.HasPrefix(ready, "True ") && !strings.HasPrefix(ready, full) {
				return fmt.Sprintf("%s: Ready is %q, Accepted %q", o.GetName(), ready, said(o, "Accepted"))
			}
		}
		refused = 0
		for _, o := range list() {
			switch ready := said(&o, "Ready"); {
			case strings.HasPrefix(ready, "True "):
			case strings.HasPrefix(ready, full):
				refused++
			default:
				waiting = append(waiting, o)
			}
		}
		if len(waiting) > 0 {
			return fmt.Sprintf("%d GraphViews are neither served nor refused any more, such as %s", len(waiting), waiting[0].GetName())
		}
		return ""
	})
	return refused
}
