package faults

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

const (
	// warmUp rounds come before what is measured: pools fill, code is compiled
	// into expressions' caches, connections are made.
	warmUp = 3
	// mostGrowth is how much the heap may have grown for all rounds together:
	// less than any one of them needs while it lasts.
	mostGrowth = 512 << 10
)

// footprint is what an engine holds.
type footprint struct {
	watches, goroutines int
	size                graph.Size
}

// TestNothingIsLeftBehind: after many rounds of adding and removing views, CRDs
// and namespaces, everything is back where it was.
func TestNothingIsLeftBehind(t *testing.T) {
	c := newClient(t)
	home := fixture.Namespace(t, plane, c, "home")
	r := runEngine(t, newProxy(t), graphview.Options{Linger: 100 * time.Millisecond})
	empty := r.current().Size()
	// One view stays, so that the graph has something to lose. It sees nothing of
	// the rounds: what it had seen of them it would remember for its subscribers.
	resident := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource in ['configmaps', 'serviceaccounts']"}}},
		Namespaces: &oracle.Namespaces{Names: []string{home}},
	}
	r.apply("resident", resident)
	settle := func(from int) (footprint, uint64) {
		var now footprint
		fixture.Eventually(t, 3*time.Minute, pollInterval, func() string {
			if left := leftovers(t, c, from); left != "" {
				return left
			}
			want, err := oracle.Build(t.Context(), plane.Config(), resident)
			if err != nil {
				return err.Error()
			}
			status, _ := r.current().Status(viewName("resident"))
			if !status.Synced || status.Vertices != len(want.Vertices) {
				return fmt.Sprintf("%d vertices, want %d", status.Vertices, len(want.Vertices))
			}
			if n := r.current().Watches(); n != len(status.Resources) {
				return fmt.Sprintf("%d watches: the view still shares what others have left behind", n)
			}
			return ""
		})
		e := r.current()
		now = footprint{watches: e.Watches(), goroutines: runtime.NumGoroutine(), size: e.Size()}
		return now, heap()
	}
	for i := range warmUp {
		visit(t, c, r, i)
	}
	before, heapBefore := settle(warmUp)
	for i := range *rounds {
		visit(t, c, r, warmUp+i)
	}
	var after footprint
	var heapAfter uint64
	fixture.Eventually(t, time.Minute, pollInterval, func() string {
		after, heapAfter = settle(warmUp + *rounds)
		// A goroutine or two of the HTTP client come and go.
		if after.watches != before.watches || after.size != before.size || after.goroutines > before.goroutines+2 {
			return fmt.Sprintf("before %+v, after %+v", before, after)
		}
		if heapAfter > heapBefore+mostGrowth {
			return fmt.Sprintf("heap before %d, after %d", heapBefore, heapAfter)
		}
		return ""
	})
	r.remove("resident")
	fixture.Eventually(t, 10*time.Second, pollInterval, func() string {
		if e := r.current(); e.Watches() != 0 || e.Size() != empty {
			return fmt.Sprintf("without views there are %d watches, and of the graph %+v", e.Watches(), e.Size())
		}
		return ""
	})
	t.Logf("%d rounds: before %+v, heap %d KB; after %+v, heap %d KB", *rounds, before, heapBefore>>10, after, heapAfter>>10)
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC() // twice: finalizers and pools
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// visit is one round: a namespace and a kind come, views see them, all of them
// go.
func visit(t *testing.T, c client.Client, r *running, round int) {
	t.Helper()
	ctx := t.Context()
	group := fmt.Sprintf("round-%d.faults.example.com", round)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("round-", round), Labels: map[string]string{"round": "yes"}}}
	crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "guests", "singular": "guest", "kind": "Guest"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
	}}}
	crd.SetGroupVersionKind(crds)
	crd.SetName("guests." + group)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "config"}}
	for _, o := range []client.Object{namespace, crd, config} {
		if err := c.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	guests := guestsOf(t, group, namespace.Name)
	guest := &unstructured.Unstructured{Object: map[string]any{}}
	guest.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Guest"})
	guest.SetNamespace(namespace.Name)
	guest.SetName("guest")
	guest.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: config.Name, UID: config.UID}})

	queries := []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: fmt.Sprintf("group == '%s' || group == '' && resource == 'configmaps'", group)}}}
	r.apply("named", oracle.View{Queries: queries, Namespaces: &oracle.Namespaces{Names: []string{namespace.Name}}})
	r.apply("selected", oracle.View{Queries: queries, Namespaces: &oracle.Namespaces{LabelSelector: "round=yes"}})
	subs := []*viewer{subscribe(ctx, "named", r.view), subscribe(ctx, "selected", r.view)}
	key := oracle.VertexKey{Group: group, Version: "v1", Resource: "guests", Namespace: namespace.Name, Name: guest.GetName()}
	fixture.Eventually(t, 30*time.Second, pollInterval, func() string {
		if _, err := guests.Create(ctx, guest, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err.Error() // the kind is not served at once
		}
		for _, sub := range subs {
			if !sub.sees(key) {
				return fmt.Sprintf("%s lacks %s", sub.view, key)
			}
		}
		return ""
	})
	// In an order of its own in each round.
	ends := []func(){
		func() { r.remove("named") },
		func() { r.remove("selected") },
		func() { remove(t, c, crd) },
		func() { remove(t, c, namespace) },
	}
	for i := range ends {
		ends[(i+round)%len(ends)]()
	}
	for _, sub := range subs {
		if err := sub.Err(); err != nil {
			t.Error(err)
		}
		sub.stop()
	}
}

// guestsOf returns a client without a cache: a client that maps kinds would grow with
// every round, and the test would take that for a leak of the engine.
func guestsOf(t *testing.T, group, namespace string) dynamic.ResourceInterface {
	t.Helper()
	config := plane.Config()
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dynamic.NewForConfigAndClient(config, connections)
	if err != nil {
		t.Fatal(err)
	}
	return c.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "guests"}).Namespace(namespace)
}

func remove(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// leftovers says what of the rounds before a number the cluster still has.
func leftovers(t *testing.T, c client.Client, before int) string {
	t.Helper()
	var namespaces corev1.NamespaceList
	if err := c.List(t.Context(), &namespaces, client.MatchingLabels{"round": "yes"}); err != nil {
		t.Fatal(err)
	}
	definitions := &unstructured.UnstructuredList{}
	definitions.SetGroupVersionKind(crds)
	if err := c.List(t.Context(), definitions); err != nil {
		t.Fatal(err)
	}
	if n, d := len(namespaces.Items), len(definitions.Items); n+d > 0 {
		return fmt.Sprintf("of %d rounds, %d namespaces and %d CustomResourceDefinitions are left", before, n, d)
	}
	return ""
}
