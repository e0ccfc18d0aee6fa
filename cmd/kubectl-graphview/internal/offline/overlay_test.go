package offline

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// laidOn returns a client of a cluster that sees the manifests laid over it.
func laidOn(t *testing.T, s *Server, text string) *dynamic.DynamicClient {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"ConfigMap", "Secret", "Namespace"} {
		scope := map[bool]meta.RESTScope{true: meta.RESTScopeRoot, false: meta.RESTScopeNamespace}[kind == "Namespace"]
		mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: kind}, scope)
	}
	m := NewLoader(Options{Paths: []string{Stdin}, Stdin: strings.NewReader(text), Cluster: mapper}).Load()
	for _, err := range m.Faults {
		t.Error(err)
	}
	client, err := dynamic.NewForConfig(NewOverlay(s.Config(), m).Config(s.Config()))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func dataMap(name, labels, data string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", labels: {" + labels + "}}\ndata: {" + data + "}\n"
}

func shownMap(o *unstructured.Unstructured) string {
	return fmt.Sprint(o.GetName(), " ", o.GetLabels(), " ", o.Object["data"])
}

// TestOverlay: lists and watches have the objects of the manifests in place of the live ones.
func TestOverlay(t *testing.T) {
	const a, b, c = "a", "b", "c"
	live := dataMap(a, "app: a", "x: live") + dataMap(b, "app: b", "x: live")
	s, _ := serve(t, load(t, live))
	client := laidOn(t, s, dataMap(a, "app: new", "x: laid")+dataMap(c, "app: c", "x: laid")+"---\n{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {key: classified}}\n").Resource(configMaps)
	for selector, want := range map[string][]string{
		"":        {"a map[app:new] map[x:laid]", "b map[app:b] map[x:live]", "c map[app:c] map[x:laid]"},
		"app=c":   {"c map[app:c] map[x:laid]"},
		"app=new": {"a map[app:new] map[x:laid]"}, // the API server does not know that it would be in the list
		"app=a":   nil,
	} {
		list, err := client.Namespace("default").List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range list.Items {
			got = append(got, shownMap(&list.Items[i]))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", selector, diff)
		}
	}
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	for _, step := range []struct{ live, want string }{
		{dataMap(b, "app: b", "x: live"), "MODIFIED a map[app:new] map[x:laid]"}, // its manifest makes it again
		{dataMap(b, "app: b", "x: more"), "MODIFIED b map[app:b] map[x:more]"},
		{dataMap(c, "app: c", "x: live") + dataMap(b, "app: b", "x: more"), "ADDED c map[app:c] map[x:laid]"},
		{dataMap(c, "app: c", "x: live"), "DELETED b map[app:b] map[x:more]"},
	} {
		s.Replace(load(t, step.live))
		event := <-watch.ResultChan()
		o, ok := event.Object.(*unstructured.Unstructured)
		if !ok || fmt.Sprint(event.Type, " ", shownMap(o)) != step.want {
			t.Errorf("event %s %v, want %s", event.Type, event.Object, step.want)
		}
	}
}

// TestOverlayPages: objects that the API server does not have come after the last page, and others once.
func TestOverlayPages(t *testing.T) {
	s, _ := serve(t, load(t, dataMap("a", "", "")))
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	m := NewLoader(Options{Paths: []string{Stdin}, Stdin: strings.NewReader(dataMap("a", "", "x: laid") + dataMap("b", "", "x: laid")), Cluster: mapper}).Load()
	o := NewOverlay(s.Config(), m)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a/api/v1/configmaps", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q, err := parseRequest(o.kinds, request, request.URL.Path)
	if err != nil || q.kind.Kind != "ConfigMap" {
		t.Fatalf("%v, %v", q.kind, err)
	}
	l := &lens{Overlay: o, request: q, scope: "all"}
	for range 2 { // a list that begins again
		first, err := l.list(strings.NewReader(`{"metadata":{"continue":"more","resourceVersion":"7"},"items":[{"metadata":{"name":"a","namespace":"default","uid":"live"}}]}`), true)
		if err != nil || strings.Count(string(first), `"x":"laid"`) != 1 || !strings.Contains(string(first), `"uid":"live"`) {
			t.Errorf("first page: %s, %v", first, err)
		}
		last, err := l.list(strings.NewReader(`{"metadata":{"resourceVersion":"7"},"items":null}`), false)
		if err != nil || strings.Count(string(last), `"x":"laid"`) != 1 || !strings.Contains(string(last), `"name":"b"`) || !strings.Contains(string(last), `"resourceVersion":"7"`) {
			t.Errorf("last page: %s, %v", last, err)
		}
	}
}

// TestApplied: a field that the manifest lacks goes if the manifest's manager made it.
func TestApplied(t *testing.T) {
	parse := func(text string) (of map[string]any) {
		if err := yaml.Unmarshal([]byte(text), &of); err != nil {
			t.Fatal(err)
		}
		return of
	}
	live := `
apiVersion: v1
kind: Thing
metadata:
  name: a
  uid: live
  labels: {applied: a, added: b}
  managedFields:
  - {manager: kubectl, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {".": {}, "f:applied": {}}}, "f:spec": {"f:kept": {}, "f:gone": {}, "f:inner": {"f:gone": {}}, "f:list": {}}}}
  - {manager: controller, operation: Update, fieldsV1: {"f:spec": {"f:volumeName": {}, "f:inner": {"f:default": {}}}}}
  - {manager: scaler, operation: Update, subresource: scale, fieldsV1: {"f:spec": {"f:kept": {}, "f:scaled": {}}}}
spec: {kept: 1, gone: 2, volumeName: pv, scaled: 3, list: [1, 2], inner: {gone: a, default: b}}
status: {phase: Bound}
`
	got := applied(parse(live), parse("{apiVersion: v1, kind: Thing, metadata: {name: a, uid: other, labels: {more: c}}, spec: {kept: 5, list: [3]}, status: {phase: X}}"), false)
	delete(got["metadata"].(map[string]any), "managedFields")
	want := parse("{apiVersion: v1, kind: Thing, metadata: {name: a, uid: live, labels: {added: b, more: c}, annotations: {}}, " +
		"spec: {kept: 5, volumeName: pv, scaled: 3, list: [3], inner: {default: b}}, status: {phase: Bound}}")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
