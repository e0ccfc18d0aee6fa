package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/format"
)

// TestOpenAPI reads the document with the client that kubectl has.
func TestOpenAPI(t *testing.T) {
	s := serve(t, nil)
	client, err := discovery.NewDiscoveryClientForConfigAndClient(
		&rest.Config{Host: s.url(""), BearerToken: "reader"}, withToken(s.client, "reader"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := openapi3.NewRoot(client.OpenAPIV3()).GVSpec(groupVersion)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, schema := range spec.Components.Schemas {
		if gvks, ok := schema.Extensions["x-kubernetes-group-version-kind"].([]any); ok {
			kinds = append(kinds, gvks[0].(map[string]any)["kind"].(string))
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff([]string{"Graph", "GraphList"}, kinds); diff != "" {
		t.Errorf("kinds: -want +got:\n%s", diff)
	}
	one := spec.Paths.Paths[versionPath+"/namespaces/{namespace}/graphs/{name}"].Get
	wantTypes := []string{"application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"}
	wantFormats := []any{"json"}
	for _, f := range format.All() {
		wantTypes, wantFormats = append(wantTypes, f.MediaType()), append(wantFormats, string(f))
	}
	slices.Sort(wantTypes)
	if diff := cmp.Diff(wantTypes, slices.Sorted(maps.Keys(one.Responses.StatusCodeResponses[http.StatusOK].Content))); diff != "" {
		t.Errorf("media types: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(wantFormats, one.Parameters[0].Schema.Enum); diff != "" {
		t.Errorf("formats: -want +got:\n%s", diff)
	}
	if code, _ := s.get("/openapi/v2", nil); code != http.StatusNotFound {
		t.Errorf("/openapi/v2: %d", code)
	}
}

// TestOpenAPIMatchesTheServer: every path answers, with a code that it is
// said to answer with, and what is not described is not there.
func TestOpenAPIMatchesTheServer(t *testing.T) {
	s := serve(t, nil)
	document := decode(t, openAPI)
	var got []string
	for path, item := range document["paths"].(map[string]any) {
		got = append(got, strings.TrimPrefix(path, versionPath))
		path = strings.NewReplacer("{namespace}", "shop", "{name}", "unknown").Replace(path)
		code, body := s.get(path, nil)
		responses := item.(map[string]any)["get"].(map[string]any)["responses"].(map[string]any)
		if _, ok := responses[fmt.Sprint(code)]; !ok {
			t.Errorf("%s: %d %s", path, code, body)
		}
		if code != http.StatusOK {
			statusOf(t, body)
		}
		if code, _ := s.get(path, http.Header{"Authorization": {"Bearer nobody"}}); code != http.StatusForbidden && !strings.HasSuffix(path, "v1alpha1/") {
			t.Errorf("%s: %d for whoever may do nothing", path, code)
		}
	}
	slices.Sort(got)
	want := []string{
		"/", "/clusters", "/graphs", "/namespaces/{namespace}/graphs", "/namespaces/{namespace}/graphs/{name}",
		"/namespaces/{namespace}/graphs/{name}/object", "/watch/namespaces/{namespace}/graphs/{name}", "/watch/streams",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths: -want +got:\n%s", diff)
	}
}

// TestOpenAPIBounds: the document has the bounds that the server refuses beyond.
func TestOpenAPIBounds(t *testing.T) {
	bounds := map[string]map[string]any{}
	walk(decode(t, openAPI), func(node map[string]any) {
		if schema, ok := node["schema"].(map[string]any); ok && node["in"] == "query" {
			bounds[node["name"].(string)] = schema
		}
	})
	for name, want := range map[string]map[string]int{
		"root": {"maxItems": graph.MaxRoots}, "depth": {"maximum": graph.MaxDepth}, wholeOption: {"maxItems": mostWhole},
		"limit": {"maximum": mostChanges, "default": fewChanges},
	} {
		for bound, n := range want {
			if got := bounds[name][bound]; fmt.Sprint(got) != fmt.Sprint(n) {
				t.Errorf("?%s=: %s is %v, want %d", name, bound, got, n)
			}
		}
	}
}

// TestOpenAPIIsWhole: what the document refers to is in it, and no member is
// misspelt.
func TestOpenAPIIsWhole(t *testing.T) {
	document := decode(t, openAPI)
	operations := map[string]bool{}
	placeholder := regexp.MustCompile(`\{([a-z]+)\}`)
	for path, item := range document["paths"].(map[string]any) {
		declared := map[string]bool{}
		all, _ := item.(map[string]any)["parameters"].([]any)
		for _, p := range all {
			p := p.(map[string]any)
			if reference, ok := p["$ref"].(string); ok {
				p = document["components"].(map[string]any)["parameters"].(map[string]any)[strings.TrimPrefix(reference, "#/components/parameters/")].(map[string]any)
			}
			if p["in"] == "path" {
				declared[p["name"].(string)] = p["required"] == true
			}
		}
		for _, m := range placeholder.FindAllStringSubmatch(path, -1) {
			if !declared[m[1]] {
				t.Errorf("%s: %s is not declared", path, m[1])
			}
			delete(declared, m[1])
		}
		if len(declared) > 0 {
			t.Errorf("%s: declared and not there: %v", path, declared)
		}
		operation := item.(map[string]any)["get"].(map[string]any)["operationId"].(string)
		if operations[operation] {
			t.Errorf("%s twice", operation)
		}
		operations[operation] = true
	}
	used := map[string]bool{}
	walk(document, func(node map[string]any) {
		reference, ok := node["$ref"].(string)
		if !ok {
			return
		}
		used[reference] = true
		at := any(document)
		for part := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
			at = at.(map[string]any)[part]
			if at == nil {
				t.Fatalf("%s leads nowhere", reference)
			}
		}
	})
	for section, all := range document["components"].(map[string]any) {
		for name, content := range all.(map[string]any) {
			if !used["#/components/"+section+"/"+name] && !strings.HasSuffix(name, ".Graph") && !strings.HasSuffix(name, ".GraphList") {
				t.Errorf("%s %s is of no use", section, name)
			}
			if text, _ := content.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s %s is not described", section, name)
			}
		}
	}
}

// connectedFleet has one cluster.
type connectedFleet struct{}

func (connectedFleet) Route(context.Context, string, string) (proxy.Route, error) {
	return nil, errUnreachable
}

func (connectedFleet) Clusters() []ClusterStatus {
	return []ClusterStatus{{Name: "eu-1", DisplayName: "Europe", Aliases: []string{"argocd:https://eu-1"}, Connected: true, Since: time.Unix(1, 0)}}
}

// TestAnswersHaveTypes: the types that the document is made from have each member of the answers.
func TestAnswersHaveTypes(t *testing.T) {
	view, broken := newView("shop/web"), newView("shop/broken")
	broken.err = errors.New("refused")
	view.found = &delivery.Found{Vertex: []byte(`"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"},"o":{"kind":"Pod"}`), Out: []byte(strings.TrimSuffix(strings.TrimPrefix(exportedArc, `{"sarc":`), `}`)), More: true}
	s := serveOptions(t, Options{
		Cluster: fakeCluster{view, broken}, Fleet: connectedFleet{},
		Ineffective: func(graphview.Name) (string, bool) { return "queries[0]", true },
	})
	go func() {
		for {
			select {
			case subscription := <-view.subscribed:
				subscription.send(frame("7", true, []string{exportedPod, exportedArc}, warning))
			case <-t.Context().Done():
				return
			}
		}
	}()
	for path, into := range map[string]any{
		"graphs":                     &streamv1alpha1.GraphList{},
		"clusters":                   &streamv1alpha1.ClusterList{},
		"namespaces/shop/graphs/web": &streamv1alpha1.Graph{},
		"namespaces/shop/graphs/web?impact=pods/shop/a":          &streamv1alpha1.GraphImpact{},
		"namespaces/shop/graphs/web/object?resource=pods&name=a": &streamv1alpha1.GraphObject{},
		"namespaces/shop/graphs/none":                            &metav1.Status{},
	} {
		t.Run(path, func(t *testing.T) {
			_, body := s.get(graphs+path, nil)
			decoder := json.NewDecoder(bytes.NewReader(body))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(into); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if kind := reflect.ValueOf(into).Elem().FieldByName("Kind").String(); !strings.Contains(string(body), `"kind":"`+kind+`"`) || kind == "" {
				t.Errorf("kind %q: %s", kind, body)
			}
		})
	}
}

func walk(value any, visit func(map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		visit(value)
		for _, member := range value {
			walk(member, visit)
		}
	case []any:
		for _, element := range value {
			walk(element, visit)
		}
	}
}
