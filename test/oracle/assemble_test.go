package oracle

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// clusterScoped are the kinds of the scenarios that have no namespace.
var clusterScoped = []string{"PersistentVolume"}

// TestScenarios runs testdata: objects, perhaps roots, and the resulting graph with a line
// for each vertex and arc. All kinds of the objects are watched.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var watched []resource
			var objects []object
			var roots *Roots
			var want string
			for _, part := range archive.Files {
				switch part.Name {
				case "objects.yaml":
					watched, objects = parseObjects(t, string(part.Data))
				case "roots.yaml":
					if err := yaml.UnmarshalStrict(part.Data, &roots); err != nil {
						t.Fatal(err)
					}
				case "want":
					want = string(part.Data)
				}
			}
			graph, err := assemble(watched, watched, objects, View{Roots: roots}, outside{namespaces: &selectedNamespaces{all: true}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, render(t, graph)); diff != "" {
				t.Errorf("graph (-want +got):\n%s", diff)
			}
			for key, content := range graph.Vertices {
				if (content == nil) != (key.Resource == "secrets") {
					t.Errorf("content of %s: %v", key, content)
				}
			}
		})
	}
}

func parseObjects(t *testing.T, text string) ([]resource, []object) {
	t.Helper()
	var watched []resource
	var objects []object
	for document := range strings.SplitSeq(text, "---\n") {
		item := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &item.Object); err != nil {
			t.Fatal(err)
		}
		kind := item.GroupVersionKind()
		r := resource{
			GroupVersionResource: kind.GroupVersion().WithResource(plural(kind.Kind)),
			kind:                 kind.Kind, namespaced: !slices.Contains(clusterScoped, kind.Kind),
		}
		if !slices.ContainsFunc(watched, func(w resource) bool { return w.GroupVersionResource == r.GroupVersionResource }) {
			watched = append(watched, r)
		}
		objects = append(objects, object{
			key: VertexKey{
				Group: r.Group, Version: r.Version, Resource: r.Resource,
				Namespace: item.GetNamespace(), Name: item.GetName(),
			},
			kind: schema.GroupKind{Group: kind.Group, Kind: kind.Kind},
			tree: strip(r, item),
		})
	}
	return watched, objects
}

func plural(kind string) string {
	name := strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(name, "y"); ok {
		return stem + "ies"
	}
	return name + "s"
}

func render(t *testing.T, graph Graph) string {
	t.Helper()
	var lines []string
	for key := range graph.Vertices {
		lines = append(lines, key.String())
	}
	for key, attributes := range graph.Arcs {
		text, err := json.Marshal(attributes)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %s", key, text))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
