package stream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

func TestList(t *testing.T) {
	s := serve(t, fakeCluster{newView("bank/web"), newView("shop/api"), newView("shop/web")})
	tests := map[string]struct {
		path string
		want []string
	}{
		"all":                 {"graphs", []string{"bank/web", "shop/api", "shop/web"}},
		"namespace":           {"namespaces/shop/graphs", []string{"shop/api", "shop/web"}},
		"empty namespace":     {"namespaces/none/graphs", []string{}},
		"by name":             {"graphs?fieldSelector=metadata.name%3Dweb", []string{"bank/web", "shop/web"}},
		"by not name":         {"graphs?fieldSelector=metadata.name!%3Dweb", []string{"shop/api"}},
		"by namespace":        {"graphs?fieldSelector=metadata.namespace%3Dbank", []string{"bank/web"}},
		"by a label":          {"graphs?labelSelector=app%3Dx", []string{}},
		"by absence of label": {"namespaces/bank/graphs?labelSelector=!app", []string{"bank/web"}},
		"limit is ignored":    {"graphs?limit=1", []string{"bank/web", "shop/api", "shop/web"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, body := s.get(graphs+test.path, nil)
			var list streamv1alpha1.GraphList
			if err := json.Unmarshal(body, &list); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			got := []string{}
			for _, item := range list.Items {
				got = append(got, item.Metadata.Namespace+"/"+item.Metadata.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestListItem(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	_, body := s.get(graphs+"graphs", nil)
	want := map[string]any{
		"apiVersion": "stream.graphview.dev/v1alpha1", "kind": "GraphList", "metadata": map[string]any{},
		"items": []any{map[string]any{
			"apiVersion": "stream.graphview.dev/v1alpha1", "kind": "Graph",
			"metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "uid-web"},
			"vertices": 3.0, "arcs": 2.0, "roots": 1.0, "subscribers": 4.0, "synced": true,
		}},
	}
	if diff := cmp.Diff(want, decode(t, body)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Only a user who may get the GraphViews of the list sees what their condition says.
func TestListIneffective(t *testing.T) {
	const text = "spec.queries[0]: it matches nothing"
	broken := newView("shop/broken")
	broken.err = errors.New("spec.queries: no")
	s := serveOptions(t, Options{Cluster: fakeCluster{broken, newView("shop/api"), newView("shop/web")}, Ineffective: func(name graphview.Name) (string, bool) {
		return map[string]string{"web": text}[name.Name], name.Name != "broken"
	}}, func(s *Server) {
		decide := s.access.decide
		s.access.decide = func(ctx context.Context, who user.Info, q access.Question) (bool, error) {
			if q.Resource == "graphviews" {
				return q == access.Question{Verb: "get", Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews", Namespace: "shop", Name: q.Name}, nil
			}
			return decide(ctx, who, q)
		}
	})
	for path, want := range map[string][]any{
		"namespaces/shop/graphs": {nil, "", text}, "namespaces/shop/graphs?fieldSelector=metadata.name%3Dweb": {text}, "graphs": {nil, nil, nil},
	} {
		t.Run(path, func(t *testing.T) {
			_, body := s.get(graphs+path, nil)
			var got []any
			for _, item := range decode(t, body)["items"].([]any) {
				got = append(got, item.(map[string]any)["ineffective"])
				if message := item.(map[string]any)["message"]; (message == "spec.queries: no") != (len(want) == 3 && len(got) == 1) {
					t.Errorf("message of item %d: %v", len(got)-1, message)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	// As kubectl asks for it.
	const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	broken := newView("shop/broken")
	broken.err = errors.New("spec.queries: no")
	broken.status = graphview.Status{}
	s := serve(t, fakeCluster{broken, newView("shop/web")})
	for name, test := range map[string]struct {
		path      string
		wantCells [][]any
		wantKind  string
	}{
		"list": {
			"namespaces/shop/graphs",
			[][]any{{"broken", false, 0.0, 0.0, 0.0, 0.0, "spec.queries: no"}, {"web", true, 3.0, 2.0, 1.0, 4.0, ""}},
			"PartialObjectMetadata",
		},
		"get": {"namespaces/shop/graphs/web", [][]any{{"web", true, 3.0, 2.0, 1.0, 4.0, ""}}, "PartialObjectMetadata"},
		"objects": {
			"namespaces/shop/graphs/web?includeObject=Object", [][]any{{"web", true, 3.0, 2.0, 1.0, 4.0, ""}}, "Graph",
		},
		"no objects": {"namespaces/shop/graphs/web?includeObject=None", [][]any{{"web", true, 3.0, 2.0, 1.0, 4.0, ""}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, body := s.get(graphs+test.path, http.Header{"Accept": {accept}})
			var table metav1.Table
			if err := json.Unmarshal(body, &table); err != nil || table.Kind != "Table" || table.APIVersion != "meta.k8s.io/v1" {
				t.Fatalf("%v: %s", err, body)
			}
			var cells [][]any
			for _, row := range table.Rows {
				cells = append(cells, row.Cells)
				if len(row.Cells) != len(table.ColumnDefinitions) {
					t.Errorf("%d cells, %d columns", len(row.Cells), len(table.ColumnDefinitions))
				}
				kind := ""
				if raw := string(row.Object.Raw); raw != "" && raw != "null" {
					object := decode(t, row.Object.Raw)
					kind = object["kind"].(string)
					if object["metadata"].(map[string]any)["namespace"] != "shop" {
						t.Errorf("object: %s", raw)
					}
				}
				if kind != test.wantKind {
					t.Errorf("object is %q, want %q", kind, test.wantKind)
				}
			}
			if diff := cmp.Diff(test.wantCells, cells); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzSelection: selectors are untrusted text, and an object that is selected by name has
// that name.
func FuzzSelection(f *testing.F) {
	f.Add("metadata.name=web", "!app")
	f.Add("metadata.name==web,metadata.namespace!=x", "a in (b,c)")
	f.Add(`metadata.name=\,`, "a=")
	f.Fuzz(func(t *testing.T, byField, byLabel string) {
		selected, err := selection(&request.RequestInfo{Namespace: "shop", FieldSelector: byField, LabelSelector: byLabel})
		if err != nil {
			return
		}
		if selected(graphview.Name{Namespace: "bank", Name: "web"}) {
			t.Error("selected from another namespace")
		}
		parsed, err := fields.ParseSelector(byField)
		if err != nil {
			t.Fatalf("accepted what is no selector: %v", err)
		}
		if name, ok := parsed.RequiresExactMatch("metadata.name"); ok && name != "web" && selected(graphview.Name{Namespace: "shop", Name: "web"}) {
			t.Errorf("selected web for %q", name)
		}
	})
}
