package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/resources"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

const (
	widgetsV1 = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.discovery.example.com}
spec:
  group: discovery.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`
	gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.late.example.com}
spec:
  group: late.example.com
  scope: Cluster
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
	absent = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.absent.example.com}
spec:
  group: absent.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: default, name: nobody}
`
)

// follower is a Discovery beside the cluster that it follows.
type follower struct {
	*resources.Discovery
	client dynamic.Interface
}

// startFollower follows what the identity of config is told.
func startFollower(t *testing.T, plane *env.ControlPlane, o resources.Options) follower {
	t.Helper()
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	d, err := resources.New(o)
	if err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, d.Run)
	return follower{Discovery: d, client: client}
}

// of returns where the objects of a manifest of this test live.
func (f follower) of(t *testing.T, manifest string) (dynamic.ResourceInterface, *unstructured.Unstructured) {
	t.Helper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		t.Fatal(err)
	}
	gvk := object.GroupVersionKind()
	return f.client.Resource(schema.GroupVersionResource{
		Group: gvk.Group, Version: gvk.Version, Resource: strings.ToLower(gvk.Kind) + "s",
	}), &object
}

func (f follower) create(t *testing.T, manifest string) {
	t.Helper()
	client, object := f.of(t, manifest)
	if _, err := client.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (f follower) patch(t *testing.T, manifest, patch string) {
	t.Helper()
	client, object := f.of(t, manifest)
	if _, err := client.Patch(t.Context(), object.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (f follower) remove(t *testing.T, manifest string) {
	t.Helper()
	client, object := f.of(t, manifest)
	if err := client.Delete(t.Context(), object.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// await waits for a catalog for which want returns true. Each catalog before that
// must have the resources named by always.
func (f follower) await(t *testing.T, what string, want func(*resources.Catalog) bool, always ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(time.Minute))
	defer cancel()
	started := time.Now()
	for {
		c, replaced := f.Current()
		for _, resource := range always {
			if c != nil && !serves(resource)(c) {
				t.Fatalf("%s: %s is gone", what, resource)
			}
		}
		if c != nil && want(c) {
			t.Logf("%s: after %s", what, time.Since(started).Round(time.Millisecond))
			return
		}
		select {
		case <-replaced:
		case <-ctx.Done():
			t.Fatalf("%s: not within a minute; resources %v, failed %v", what, c.All(), c.Failed())
		}
	}
}

func serves(resource string) func(*resources.Catalog) bool {
	return func(c *resources.Catalog) bool {
		for _, r := range c.All() {
			if r.String() == resource {
				return true
			}
		}
		return false
	}
}

func not(f func(*resources.Catalog) bool) func(*resources.Catalog) bool {
	return func(c *resources.Catalog) bool { return !f(c) }
}

func fails(group, version string) func(*resources.Catalog) bool {
	return func(c *resources.Catalog) bool {
		for _, f := range c.Failed() {
			if f.Group == group && f.Version == version {
				return true
			}
		}
		return false
	}
}

// TestDiscovery follows a real API server through one life: each step starts
// from the cluster that the one before left. Polling is out of the question, so
// all is noticed by the watches.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	plane := sparePlane(t)
	f := startFollower(t, plane, resources.Options{Config: plane.Config(), PollInterval: time.Hour})
	const (
		deployments = "apps/v1/deployments"
		first       = "discovery.example.com/v1/widgets"
		second      = "discovery.example.com/v2/widgets"
	)

	f.await(t, "built-in resources", serves(deployments))
	c, _ := f.Current()
	for _, r := range c.All() {
		if r.Group == "events.k8s.io" || strings.Contains(r.Resource, "/") || r.Resource == "tokenreviews" {
			t.Errorf("the catalog has %s", r)
		}
	}

	f.create(t, widgetsV1)
	f.await(t, "a resource that was defined", serves(first), deployments)

	f.patch(t, widgetsV1, `[{"op":"replace","path":"/spec/versions/1/served","value":true}]`)
	f.await(t, "a version that was added", serves(second), deployments, first)
	c, _ = f.Current()
	selected, errs := resources.Select(c, func(r resources.Resource) (int, bool, bool, error) {
		return 0, true, r.Group == "discovery.example.com", nil
	})
	if len(errs) > 0 || len(selected) != 1 || selected[0].Resource.String() != second {
		t.Errorf("selected %v with errors %v, want %s", selected, errs, second)
	}

	f.patch(t, widgetsV1, `[{"op":"replace","path":"/spec/versions/1/served","value":false}]`)
	f.await(t, "a version that was taken away", not(serves(second)), deployments, first)

	f.create(t, absent)
	f.await(t, "an API without a server", fails("absent.example.com", "v1"), deployments, first)

	plane.StopAPIServer()
	if err := plane.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.create(t, gadgets)
	f.await(t, "a resource defined after a restart", serves("late.example.com/v1/gadgets"), deployments, first)

	f.remove(t, absent)
	f.await(t, "an API that was taken away", not(fails("absent.example.com", "v1")), deployments, first)

	f.remove(t, widgetsV1)
	f.await(t, "a resource that was taken away", not(serves(first)), deployments)
}

// TestDiscoveryWithoutRights follows discovery as a user that may read the discovery
// documents, as every user may, but may watch nothing.
func TestDiscoveryWithoutRights(t *testing.T) {
	f := startFollower(t, cluster, resources.Options{
		Config:       cluster.ClientConfig("nobody"),
		PollInterval: time.Second,
	})
	f.await(t, "built-in resources", serves("apps/v1/deployments"))
	f.create(t, gadgets)
	f.await(t, "a resource that was defined", serves("late.example.com/v1/gadgets"))
	f.remove(t, gadgets)
	f.await(t, "a resource that was taken away", not(serves("late.example.com/v1/gadgets")))
}
