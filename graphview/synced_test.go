package graphview

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// memoryCluster serves namespaces, and ConfigMaps and Secrets in them, to an engine in the
// same bubble of fake time.
type memoryCluster struct {
	mu         sync.Mutex
	namespaces map[string]int // the number of objects of each resource
	// refused are the places that the operator may not list and watch, as RESOURCE for all
	// namespaces and RESOURCE/NAMESPACE for one.
	refused map[string]bool
	// delay is how long the list of a resource in a namespace takes. Those of Helm's releases
	// are a resource of their own.
	delay   func(resource, namespace string) time.Duration
	watches map[*io.PipeWriter]string
}

func newMemoryCluster(namespaces, objects int) *memoryCluster {
	c := &memoryCluster{
		namespaces: make(map[string]int), refused: make(map[string]bool), watches: make(map[*io.PipeWriter]string),
		delay: func(string, string) time.Duration { return time.Millisecond },
	}
	for i := range namespaces {
		c.namespaces[fmt.Sprintf("ns-%02d", i)] = objects
	}
	return c
}

// refuse sets whether a place is refused, and ends its watches.
func (c *memoryCluster) refuse(place string, refused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[place] = refused
	for w, at := range c.watches {
		if refused && at == place {
			_ = w.Close()
			delete(c.watches, w)
		}
	}
}

// RoundTrip implements http.RoundTripper.
func (c *memoryCluster) RoundTrip(r *http.Request) (*http.Response, error) {
	path, core := strings.CutPrefix(r.URL.Path, "/api/v1/")
	path, namespace := strings.TrimPrefix(path, "namespaces/"), ""
	if ns, rest, ok := strings.Cut(path, "/"); ok {
		path, namespace = rest, ns
	}
	place := strings.TrimSuffix(path+"/"+namespace, "/")
	if field, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.namespace="); ok {
		namespace = field
	}
	if !core || !slices.Contains([]string{"namespaces", "configmaps", "secrets"}, path) {
		return c.answer(r, http.StatusNotFound, io.NopCloser(strings.NewReader(`{"kind":"Status","code":404,"reason":"NotFound"}`))), nil
	}
	listed := path
	if strings.Contains(r.URL.Query().Get("fieldSelector"), helm.SecretType) {
		listed = "releases"
	}
	c.mu.Lock()
	refused, delay := c.refused[place], c.delay(listed, namespace)
	c.mu.Unlock()
	if refused {
		text := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":"forbidden"}`
		return c.answer(r, http.StatusForbidden, io.NopCloser(strings.NewReader(text))), nil
	}
	if r.URL.Query().Get("watch") != "" {
		body, w := io.Pipe()
		c.mu.Lock()
		c.watches[w] = place
		c.mu.Unlock()
		context.AfterFunc(r.Context(), func() { _ = w.CloseWithError(r.Context().Err()) })
		return c.answer(r, http.StatusOK, body), nil
	}
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return nil, fmt.Errorf("list: %w", r.Context().Err())
	}
	return c.answer(r, http.StatusOK, io.NopCloser(strings.NewReader(c.list(path, namespace)))), nil
}

func (c *memoryCluster) answer(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r, ProtoMajor: 1, ProtoMinor: 1}
}

func (c *memoryCluster) list(resource, namespace string) string {
	var items []string
	for _, ns := range slices.Sorted(maps.Keys(c.namespaces)) {
		if resource == "namespaces" {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,"uid":%[1]q,"resourceVersion":"1"}}`, ns))
			continue
		}
		for i := range c.namespaces[ns] {
			if namespace == "" || namespace == ns {
				items = append(items, fmt.Sprintf(`{"metadata":{"namespace":%q,"name":"o%d","uid":"%s-%s-%d","resourceVersion":"1"}}`, ns, i, resource, ns, i))
			}
		}
	}
	kind := map[string]string{"namespaces": "Namespace", "configmaps": "ConfigMap", "secrets": "Secret"}[resource]
	return fmt.Sprintf(`{"kind":"%sList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[%s]}`, kind, strings.Join(items, ","))
}

// readable returns the number of objects of a resource in some namespaces that the operator
// may read.
func (c *memoryCluster) readable(resource string, namespaces []string) (n int, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = true
	for _, ns := range namespaces {
		if c.refused[resource] && c.refused[resource+"/"+ns] {
			all = false
			continue
		}
		n += c.namespaces[ns]
	}
	return n, all
}

var secretsResource = resources.Resource{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}

// keepIn is keepByHand in a cluster in memory.
func keepIn(t *testing.T, c *memoryCluster, o Options) *keptView {
	t.Helper()
	// Client-go's handlers of errors sleep until a time of the process's own clock.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil                            //nolint:reassign // there is no other way to replace them
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // as above
	o.Config = &rest.Config{Host: "http://cluster", Transport: c}
	return keepAnother(t, startEngine(t, o), "flow")
}

// keepAnother keeps one more view of an engine whose cluster is in memory.
func keepAnother(t *testing.T, e *Engine, name string) *keptView {
	t.Helper()
	return keepOf(t, e, Name{Namespace: "ns-00", Name: name}, configMapsResource, secretsResource)
}

// pass keeps the view once, and waits for a reason to do so again, at most a second.
func (k *keptView) pass() {
	again := k.step(k.life, k.catalog)
	select {
	case <-k.view.evaluator.Kicks():
	case <-time.After(min(again, time.Second)):
	}
}

// refused reports whether a watch that the view has objects of was refused since the last pass.
func (k *keptView) refused() bool {
	for n, t := range k.taps.needed {
		if slices.Contains(k.taps.replacing[n.Purpose()], n) && t.state().Reason == watch.Forbidden {
			return true
		}
	}
	return false
}

// inNamespaces is a spec of ConfigMaps, and Secrets where both, in some namespaces.
func inNamespaces(names []string, both bool) v1alpha1.GraphViewSpec {
	s := selecting(v1alpha1.ObjectFilter{})
	if both {
		s.Queries[0].Include.ResourceSelectorExpression = "true"
	}
	if names != nil {
		s.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(names...)}
	}
	return s
}

// TestSyncedAfterARefusedWatch: where the watch of all namespaces is refused, a view of more
// namespaces than are watched one by one at first is synced when all of them are listed.
func TestSyncedAfterARefusedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster(10, 7)
		c.refuse("configmaps", true)
		c.delay = func(_, namespace string) time.Duration { return time.Duration(len(namespace)) * time.Second }
		c.namespaces["ns-with-a-slow-list"] = 7
		k := keepIn(t, c, Options{})
		k.apply(inNamespaces(slices.Collect(maps.Keys(c.namespaces)), false))
		for !k.view.synced() {
			k.pass()
		}
		if n := k.view.lens.Vertices(); n != 77 {
			t.Errorf("the view is synced with %d of 77 objects; warnings: %v", n, k.view.warnings.Summary(true))
		}
	})
}

// TestSecretsWhileReleasesAreListed: a view leaves a shared watch of Secrets while Helm's releases
// among them are still listed, and has its Secrets all the same.
func TestSecretsWhileReleasesAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster(3, 5)
		delays := map[string]time.Duration{"secrets/ns-00": 20 * time.Second, "releases/": 50 * time.Second}
		c.delay = func(resource, namespace string) time.Duration { return delays[resource+"/"+namespace] }
		k := keepIn(t, c, Options{Linger: time.Second})
		other := keepAnother(t, k.view.engine, "other")
		pass := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); k.pass() {
				other.step(other.life, other.catalog)
				k.view.engine.writer.Do(func() {})
			}
		}
		k.apply(inNamespaces([]string{"ns-00"}, true))
		pass(5 * time.Second)
		other.apply(inNamespaces(nil, true))
		pass(5 * time.Second)
		if n := k.view.lens.Vertices(); n != 10 {
			t.Errorf("%d of 10 objects while the watch of Secrets is shared", n)
		}
		other.view.setProgram(nil, nil)
		pass(3 * time.Minute)
		if n := k.view.lens.Vertices(); n != 10 {
			t.Errorf("%d of 10 objects when it is not shared any more", n)
		}
	})
}

// TestNarrowedAtOnce: a view that is edited to select fewer namespaces does not show objects of the
// others while the watch of all namespaces, which it only tries, is listed.
func TestNarrowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newMemoryCluster(3, 5)
		delays := map[string]time.Duration{"configmaps/": 50 * time.Second}
		c.delay = func(resource, namespace string) time.Duration { return delays[resource+"/"+namespace] }
		k := keepIn(t, c, Options{})
		other := keepAnother(t, k.view.engine, "other")
		k.apply(inNamespaces([]string{"ns-00", "ns-01"}, false))
		for !k.view.synced() {
			k.pass()
		}
		other.apply(inNamespaces(nil, false))
		other.step(other.life, other.catalog)
		k.pass()
		k.apply(inNamespaces([]string{"ns-01"}, false))
		for !k.view.synced() {
			k.pass()
		}
		k.view.engine.writer.Do(func() {})
		if n := k.view.lens.Vertices(); n != 5 {
			t.Errorf("%d objects of one namespace, want 5", n)
		}
	})
}

// TestSyncedIsComplete compares views of random specs with what the cluster has, at the
// moment in which they become synced without a warning: rights come and go meanwhile, of the
// operator and of the view's account, in all namespaces and in single ones.
func TestSyncedIsComplete(t *testing.T) {
	for seed := range uint64(racingSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { syncedIsComplete(t, seed) })
	}
}

// racingSeeds is the number of seeds of TestSyncedIsComplete, which the race detector watches. It watches the
// same goroutines with each.
const racingSeeds = 2

func syncedIsComplete(t *testing.T, seed uint64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { syncedWhileRightsChange(t, rand.New(rand.NewPCG(seed, 0))) })
}

func syncedWhileRightsChange(t *testing.T, random *rand.Rand) {
	c := newMemoryCluster(3+random.IntN(10), 1+random.IntN(5))
	all := slices.Sorted(maps.Keys(c.namespaces))
	delays := make(map[string]time.Duration)
	for _, ns := range append(all, "") {
		for _, resource := range []string{"namespaces", "configmaps", "secrets", "releases"} {
			delays[resource+"/"+ns] = time.Duration(random.IntN(8000)) * time.Millisecond
		}
	}
	c.delay = func(resource, namespace string) time.Duration { return delays[resource+"/"+namespace] }
	var mu sync.Mutex
	denied := make(map[access.Place]bool) // of the account
	review := func(_ context.Context, _ user.Info, q access.Question) (bool, error) {
		time.Sleep(200 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		place, wide := access.Place{Resource: q.Resource, Namespace: q.Namespace}, access.Place{Resource: q.Resource}
		return q.Resource != "*" && (!denied[wide] || place != wide && !denied[place]), nil
	}
	for _, resource := range []string{"configmaps", "secrets"} {
		c.refuse(resource, random.IntN(2) == 0)
		denied[access.Place{Resource: resource}] = random.IntN(2) == 0
	}
	k := keepIn(t, c, Options{Review: review, RightsInterval: 20 * time.Second, Linger: time.Second})
	other := keepAnother(t, k.view.engine, "other")
	change := func() (names []string, both, account bool) {
		if names = all; random.IntN(4) > 0 {
			names = slices.Clone(all)
			random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			names = names[:1+random.IntN(len(names))]
		}
		both, account = random.IntN(2) == 0, random.IntN(2) == 0
		s := inNamespaces(names, both)
		if len(names) == len(all) && random.IntN(2) == 0 {
			s.Namespaces = nil
		}
		if account {
			s.ServiceAccountName = "viewer"
		}
		k.apply(s)
		return names, both, account
	}
	names, both, account := change()
	was := false
	deadline, next := time.Now().Add(4*time.Minute), time.Now()
	for time.Now().Before(deadline) {
		if settling := time.Until(deadline) < 90*time.Second; !settling && time.Now().After(next) {
			next = time.Now().Add(time.Duration(random.IntN(15_000)) * time.Millisecond)
			resource := []string{"configmaps", "secrets"}[random.IntN(2)]
			place := access.Place{Resource: resource}
			if random.IntN(3) == 0 {
				place.Namespace = all[random.IntN(len(all))]
			}
			switch random.IntN(6) {
			case 4:
				other.apply(inNamespaces(nil, true))
			case 5:
				other.view.setProgram(nil, nil)
			case 0, 1:
				c.refuse(strings.TrimSuffix(resource+"/"+place.Namespace, "/"), random.IntN(2) == 0)
			case 2:
				mu.Lock()
				denied[place] = random.IntN(2) == 0
				mu.Unlock()
			default:
				names, both, account = change()
			}
		}
		other.step(other.life, other.catalog)
		k.pass()
		k.view.engine.writer.Do(func() {})
		synced := k.view.synced()
		became := synced && (!was || time.Until(deadline) < time.Second)
		was = synced
		if !became || len(k.view.warnings.Summary(true)) > 0 || k.refused() {
			continue
		}
		want, whole := c.readable("configmaps", names)
		if both {
			secrets, too := c.readable("secrets", names)
			want, whole = want+secrets, whole && too
		}
		mu.Lock()
		for place, no := range denied {
			whole = whole && (!account || !no || place.Namespace == "")
		}
		mu.Unlock()
		if got := k.view.lens.Vertices(); whole && got != want {
			t.Errorf("after %s the view of %d namespaces is synced with %d of %d objects and says nothing", 4*time.Minute-time.Until(deadline), len(names), got, want)
		}
	}
	if !k.view.synced() {
		t.Error("the view is never synced")
	}
}
