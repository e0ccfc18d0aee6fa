package offline

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"graphview.dev/graphview/resources"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves manifests until the test ends.
func serve(t *testing.T, m *Manifests) (*Server, *dynamic.DynamicClient) {
	t.Helper()
	s := NewServer(m)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	client, err := dynamic.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, client
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// TestServer: clients discover, list, get and watch, and see no value of a Secret.
func TestServer(t *testing.T) {
	text := strings.ReplaceAll(configMap, "NAME", "a") + "---\n{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {key: classified}, data: {b: Y2xhc3NpZmllZA==}}\n"
	s, client := serve(t, load(t, text))
	catalog, err := resources.Once(t.Context(), s.Config())
	if err != nil || len(catalog.All()) < 60 {
		t.Fatalf("%d resources, %v", len(catalog.All()), err)
	}
	list, err := client.Resource(configMaps).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetUID() == "" {
		t.Fatalf("list = %v, %v", list, err)
	}
	if _, err := client.Resource(configMaps).Namespace("default").Get(t.Context(), "b", metav1.GetOptions{}); err == nil {
		t.Error("an absent object is there")
	}
	secret, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("default").Get(t.Context(), "s", metav1.GetOptions{})
	if err != nil || secret.Object["data"] != nil || secret.Object["stringData"] != nil {
		t.Errorf("Secret = %v, %v", secret, err)
	}
	for _, o := range s.objects {
		if strings.Contains(string(o.whole), "lassified") || strings.Contains(string(o.whole), "Y2xhc3Np") {
			t.Errorf("a value of a Secret is held: %s", o.whole)
		}
	}
	watch, err := client.Resource(configMaps).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	s.Replace(load(t, strings.ReplaceAll(configMap, "NAME", "b")))
	got := map[apiwatch.EventType]string{}
	for range 2 {
		event := <-watch.ResultChan()
		metadata, _ := event.Object.(metav1.Object)
		got[event.Type] = metadata.GetName()
	}
	if got[apiwatch.Added] != "b" || got[apiwatch.Deleted] != "a" {
		t.Errorf("events = %v", got)
	}
	if s.Replace(load(t, strings.ReplaceAll(configMap, "NAME", "b"))) {
		t.Error("the same manifests differ")
	}
}

// TestFollow: an edit is served, a file that is half written keeps its last objects, and a new folder is found.
func TestFollow(t *testing.T) {
	named := func(name string) string { return strings.ReplaceAll(configMap, "NAME", name) }
	folder := write(t, map[string]string{"a.yaml": named("a")})
	loader := NewLoader(Options{Paths: []string{folder}})
	s := NewServer(loader.Load())
	ctx, stop := context.WithCancel(t.Context())
	changes, done := make(chan *Manifests), make(chan error)
	go func() {
		done <- s.Follow(ctx, loader, func(m *Manifests) {
			select {
			case changes <- m:
			case <-ctx.Done():
			}
		})
	}()
	// await returns when the served ConfigMaps are as wanted, with that many faults.
	await := func(want string, faults int) {
		t.Helper()
		for m := range changes {
			var names []string
			for _, o := range m.OfKind("", "ConfigMap") {
				names = append(names, o.Name)
			}
			if strings.Join(names, " ") == want && len(m.Faults) == faults {
				return
			}
		}
	}
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a.yaml", named("b"))
	await("b", 0)
	put("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c")
	await("b", 1)
	put("a.yaml", named("c"))
	await("c", 0)
	put("deep/d.yaml", named("d"))
	await("c d", 0)
	if err := os.Remove(filepath.Join(folder, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	await("d", 0)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
