package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview/watch"
	"graphview.dev/test/fixture"
)

// sightings is a watch.Handler that keeps the last event of each object.
type sightings struct {
	mu      sync.Mutex
	trees   map[string]map[string]any
	sets    map[string]int
	invalid []string
	state   watch.State
}

func newSightings() *sightings {
	return &sightings{trees: map[string]map[string]any{}, sets: map[string]int{}}
}

func (s *sightings) Set(o *watch.Decoded) {
	tree, err := o.Tree()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.invalid = append(s.invalid, err.Error())
	}
	s.trees[o.Name()] = tree
	s.sets[o.Name()]++
}

func (s *sightings) VersionOnly(*watch.Object) {}

func (s *sightings) Delete(o *watch.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.trees, o.Name())
}

func (s *sightings) Invalid(namespace, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalid = append(s.invalid, fmt.Sprintf("%s/%s: %v", namespace, name, err))
}

func (s *sightings) State(state watch.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// await polls until check, called under the lock, returns "".
func (s *sightings) await(t *testing.T, check func() string) {
	t.Helper()
	eventually(t, soon, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return check()
	})
}

func (s *sightings) awaitSynced(t *testing.T) {
	t.Helper()
	s.await(t, func() string {
		if s.state.Synced && s.state.Err == nil {
			return ""
		}
		return fmt.Sprintf("state is %+v", s.state)
	})
}

// watches is a Manager whose Watches tell one Handler.
type watches struct {
	*watch.Manager

	handler watch.Handler
}

func runWatches(t *testing.T, config *rest.Config, h watch.Handler) *watches {
	t.Helper()
	manager, err := watch.NewManager(watch.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, manager.Run)
	return &watches{manager, h}
}

func leaseOf(t *testing.T, manager *watches, key watch.Key) *watch.Lease {
	t.Helper()
	lease, err := manager.Acquire(t.Context(), key, func(*watch.Watch) watch.Handler { return manager.handler })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lease.Release() })
	return lease
}

func core(resource, namespace string) watch.Key {
	return watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: resource}, Namespace: namespace}
}

func configMap(namespace, name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"key": value},
	}
}

func TestWatchFollowsObjects(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	create(t, c, configMap(namespace, "before", "1"))
	h := newSightings()
	manager := runWatches(t, cluster.Config(), h)
	first := leaseOf(t, manager, core("configmaps", namespace))
	second := leaseOf(t, manager, core("configmaps", namespace))
	if first.Watch() != second.Watch() || manager.Len() != 1 {
		t.Errorf("%d watches for two leases of one key", manager.Len())
	}
	h.awaitSynced(t)

	applied := configMap(namespace, "after", "1")
	create(t, c, applied)
	applied.Data["key"] = "2"
	if err := c.Update(t.Context(), applied); err != nil {
		t.Fatal(err)
	}
	// Another manager of the same value: managedFields change, nothing else.
	version := applied.ResourceVersion
	same := client.RawPatch(types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"key":"2"}}`))
	if err := c.Patch(t.Context(), applied, same, client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
	if applied.ResourceVersion == version {
		t.Error("the patch changed nothing at all")
	}
	remove(t, c, configMap(namespace, "before", ""))
	h.await(t, func() string {
		value := ""
		if data, ok := h.trees["after"]["data"].(map[string]any); ok {
			value, _ = data["key"].(string)
		}
		if _, ok := h.trees["before"]; ok || value != "2" {
			return fmt.Sprintf("objects are %v", h.trees)
		}
		return ""
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	tree := h.trees["after"]
	if tree["apiVersion"] != "v1" || tree["kind"] != "ConfigMap" {
		t.Errorf("not a full object: %v", tree)
	}
	if metadata := tree["metadata"].(map[string]any); metadata["managedFields"] != nil || metadata["uid"] == "" {
		t.Errorf("metadata = %v", metadata)
	}
	if h.sets["after"] != 2 || len(h.invalid) > 0 {
		t.Errorf("set %d times, want 2; invalid: %v", h.sets["after"], h.invalid)
	}
}

func TestWatchSecretsCarryNoData(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	secret := func(name string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, Labels: map[string]string{"a": "b"},
				Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "hunter2"},
			},
			StringData: map[string]string{"password": "hunter2"},
		}
	}
	create(t, c, secret("listed"))
	h := newSightings()
	manager := runWatches(t, cluster.Config(), h)
	lease := leaseOf(t, manager, core("secrets", namespace))
	h.awaitSynced(t)
	create(t, c, secret("watched"))
	h.await(t, func() string {
		if len(h.trees) < 2 {
			return fmt.Sprintf("%d secrets", len(h.trees))
		}
		return ""
	})
	objects, err := lease.Watch().Retained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = lease.Watch().Visit(t.Context(), objects, func(d *watch.Decoded) bool {
		tree, err := d.Tree()
		if err != nil {
			t.Error(err)
		}
		if len(tree) != 3 || tree["kind"] != "Secret" || tree["apiVersion"] != "v1" {
			t.Errorf("%s has %v", d.Name(), slices.Sorted(maps.Keys(tree)))
		}
		if text := fmt.Sprint(tree); strings.Contains(text, "hunter2") || !strings.Contains(text, "a:b") {
			t.Errorf("%s: %s", d.Name(), text)
		}
		if json, err := d.AppendJSON(nil); len(json) > 0 || err != nil {
			t.Errorf("%s has content: %d bytes, %v", d.Name(), len(json), err)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWatchCustomResources(t *testing.T) {
	t.Parallel()
	h := newSightings()
	manager := runWatches(t, cluster.Config(), h)
	leaseOf(t, manager, watch.Key{Resource: schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}})
	h.awaitSynced(t)
	views := newSightings()
	other := runWatches(t, cluster.Config(), views)
	leaseOf(t, other, watch.Key{Resource: schema.GroupVersionResource{Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews"}})
	views.awaitSynced(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trees["graphviews.graphview.dev"]["kind"] != "CustomResourceDefinition" {
		t.Errorf("objects are %v", slices.Sorted(maps.Keys(h.trees)))
	}
}

func TestWatchWaitsForRights(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	create(t, c, configMap(namespace, "a", "1"))
	h := newSightings()
	manager := runWatches(t, cluster.ClientConfig("watch-test"), h)
	leaseOf(t, manager, core("configmaps", namespace))
	h.await(t, func() string {
		if h.state.Reason != watch.Forbidden || h.state.Synced {
			return fmt.Sprintf("state is %+v", h.state)
		}
		return ""
	})
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "watch"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "watch"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "watch-test"}},
		RoleRef:    rbacv1.RoleRef{Kind: "Role", APIGroup: rbacv1.GroupName, Name: "watch"},
	}
	for _, object := range []client.Object{role, binding} {
		create(t, c, object)
	}
	h.awaitSynced(t)
}

func TestWatchRejectedFieldSelector(t *testing.T) {
	t.Parallel()
	h := newSightings()
	manager := runWatches(t, cluster.Config(), h)
	key := core("configmaps", "")
	key.FieldSelector = "data.key=1"
	leaseOf(t, manager, key)
	h.await(t, func() string {
		if h.state.Reason != watch.Rejected {
			return fmt.Sprintf("state is %+v", h.state)
		}
		return ""
	})
}

func TestWatchOutlivesTheAPIServer(t *testing.T) {
	t.Parallel()
	plane := sparePlane(t)
	c, err := client.New(plane.Config(), client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "kube-system"
	for _, name := range []string{"kept", "changed", "deleted"} {
		create(t, c, configMap(namespace, name, "1"))
	}
	h := newSightings()
	manager := runWatches(t, plane.Config(), h)
	w := leaseOf(t, manager, core("configmaps", namespace)).Watch()
	h.awaitSynced(t)
	before := w.State().Objects

	plane.StopAPIServer()
	h.await(t, func() string {
		if h.state.Err == nil || h.state.Since.IsZero() || !h.state.Synced || h.state.Reason != watch.Failing {
			return fmt.Sprintf("state is %+v", h.state)
		}
		return ""
	})
	if got := w.State().Objects; got != before {
		t.Errorf("%d objects of %d are left while the API server is away", got, before)
	}
	if err := plane.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), configMap(namespace, "changed", "2")); err != nil {
		t.Fatal(err)
	}
	remove(t, c, configMap(namespace, "deleted", ""))
	h.awaitSynced(t)
	h.await(t, func() string {
		_, deleted := h.trees["deleted"]
		if h.sets["changed"] != 2 || deleted {
			return fmt.Sprintf("set %v, deleted is there: %t", h.sets, deleted)
		}
		return ""
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sets["kept"] != 1 {
		t.Errorf("an unchanged object was set %d times", h.sets["kept"])
	}
}
