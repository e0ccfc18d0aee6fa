package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"

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
		"/", "/graphs", "/namespaces/{namespace}/graphs", "/namespaces/{namespace}/graphs/{name}",
		"/namespaces/{namespace}/graphs/{name}/object", "/watch/namespaces/{namespace}/graphs/{name}", "/watch/streams",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths: -want +got:\n%s", diff)
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
			if p := p.(map[string]any); p["in"] == "path" {
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
			if content.(map[string]any)["description"] == "" {
				t.Errorf("%s %s is not described", section, name)
			}
		}
	}
}

// summarized has all members of a summary.
const summarized = `{"svx":{"vx":{"g":"","v":"v1","r":"pods","n":"y"},"m":{"k":"Pod","h":"ok","w":"Running","rd":[1,1],"s":1,"od":2,"t":3,"app":"a","u":"b","root":true}}}`

// TestOpenAPIMatchesMessages: the members of messages are those of the schemas.
func TestOpenAPIMatchesMessages(t *testing.T) {
	schemas := decode(t, openAPI)["components"].(map[string]any)["schemas"].(map[string]any)
	messages := map[string]string{
		"Graph": `{"apiVersion":"a","kind":"Graph","metadata":{"name":"n","namespace":"s","uid":"u"},"actions":[` +
			exportedPod + `,` + exportedArc + `,{"svx":{"vx":{"g":"","v":"v1","r":"pods","n":"x"},"j":[1]}},` + summarized + `],"warnings":[` + warning + `],"rev":"1","synced":true}`,
		"Message": `{"actions":[{"dvx":{"vx":{"g":"","v":"v1","r":"pods","n":"x"}}}],"cleared":[` + warning + `],"rev":"1","synced":true,"reset":true,` +
			`"error":{"code":1000,"code_string":"StatusNormalClosure","reason":"Deleted","message":"m"}}`,
		"GraphList": string(encode(graphList{APIVersion: "a", Kind: "GraphList", Items: []listItem{itemOf(newView("shop/web")), {Message: "m", Ineffective: new(string)}}})),
	}
	var check func(at string, schema map[string]any, value any)
	check = func(at string, schema map[string]any, value any) {
		if all, ok := schema["allOf"].([]any); ok {
			schema = all[0].(map[string]any)
		}
		if reference, ok := schema["$ref"].(string); ok {
			schema = schemas[strings.TrimPrefix(reference, "#/components/schemas/")].(map[string]any)
		}
		if schema["x-kubernetes-preserve-unknown-fields"] == true {
			return
		}
		var wantType string
		switch value := value.(type) {
		case map[string]any:
			wantType = "object"
			properties, typed := schema["properties"].(map[string]any)
			for member, content := range value {
				property, ok := properties[member].(map[string]any)
				if typed && !ok {
					t.Errorf("%s.%s is not described", at, member)
				} else if typed {
					check(at+"."+member, property, content)
				}
			}
			required, _ := schema["required"].([]any)
			for _, member := range required {
				if _, ok := value[member.(string)]; !ok {
					t.Errorf("%s.%s is not there", at, member)
				}
			}
		case []any:
			wantType = "array"
			for _, element := range value {
				check(at+"[]", schema["items"].(map[string]any), element)
			}
		case string:
			wantType = "string"
		case bool:
			wantType = "boolean"
		case float64:
			wantType = "integer"
		}
		if schema["type"] != wantType {
			t.Errorf("%s is %v, described as %v", at, wantType, schema["type"])
		}
	}
	for kind, text := range messages {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		check(kind, map[string]any{"$ref": "#/components/schemas/dev.graphview.stream.v1alpha1." + kind}, value)
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
