package refs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
)

// TestScenarios runs testdata/*.txtar. Each object x.yaml is followed by the
// references it gives, x.refs, one per line, in the order in which they are found:
// that of the table's rows, those below one prefix together.
//
//	type  group/Kind  namespace/name      field
//	type  group/Kind  namespace/{labels}  field
//
// A cluster-scoped target has namespace -, one of unknown scope a question
// mark behind it, and a selector for all namespaces *. References to other clusters follow:
//
//	remote  group/Kind  namespace/name  cluster
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(archive.Files)%2 != 0 {
			t.Fatalf("%s: an object without references", file)
		}
		for pair := range len(archive.Files) / 2 {
			object, want := archive.Files[2*pair], archive.Files[2*pair+1]
			name, _ := strings.CutSuffix(object.Name, ".yaml")
			if want.Name != name+".refs" {
				t.Fatalf("%s: %s is followed by %s", file, object.Name, want.Name)
			}
			scenario := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + name
			t.Run(scenario, func(t *testing.T) {
				kind, object := decode(t, object.Data)
				got := render(Builtin().Extract(kind, object))
				for _, r := range Remotes(kind, object) {
					if r.Name == "" {
						got = append(got, "remote "+r.Cluster)
						continue
					}
					got = append(got, strings.Join([]string{"remote", kindString(r.To), cmp.Or(r.Namespace, "-") + "/" + r.Name, r.Cluster}, " "))
				}
				if diff := gocmp.Diff(lines(string(want.Data)), got); diff != "" {
					t.Errorf("references (-want +got):\n%s\nfound, in this order:\n%s", diff, strings.Join(got, "\n"))
				}
			})
		}
	}
}

func decode(tb testing.TB, data []byte) (graph.Kind, map[string]any) {
	tb.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		tb.Fatal(err)
	}
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, ok := groupOf(apiVersion)
	if !ok || kind == "" {
		tb.Fatalf("object has no apiVersion or kind:\n%s", data)
	}
	return graph.Kind{Group: group, Kind: kind}, object
}

// lines returns the lines of a text, without empty ones and alignment.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

func render(refs []graph.Reference) []string {
	var out []string
	for i := range refs {
		out = append(out, renderOne(&refs[i]))
	}
	return out
}

func renderOne(r *graph.Reference) string {
	namespace := r.Namespace
	switch {
	case r.Namespaces != nil:
		namespace = "*{" + renderSelector(r.Namespaces) + "}"
	case r.AllNamespaces:
		namespace = "*"
	case r.Scope == graph.ScopeCluster && r.Namespace == "":
		namespace = "-"
	case r.Scope == graph.ScopeUnknown:
		namespace += "?"
	}
	target := r.Name
	if r.Selector != nil {
		target += "{" + renderSelector(r.Selector) + "}"
	}
	words := []string{r.Type.String(), kindString(r.To), namespace + "/" + target}
	if r.Field != "" {
		words = append(words, r.Field)
	}
	if r.UID != "" {
		words = append(words, "uid="+r.UID)
	}
	if r.Controller {
		words = append(words, "controller")
	}
	if r.BlockOwnerDeletion {
		words = append(words, "block")
	}
	return strings.Join(words, " ")
}

func renderSelector(s *graph.Selector) string {
	var out []string
	for _, r := range s.Requirements {
		values := strings.Join(r.Values, "|")
		switch r.Op {
		case graph.In:
			out = append(out, r.Key+"="+values)
		case graph.NotIn:
			out = append(out, r.Key+"!="+values)
		case graph.Exists:
			out = append(out, r.Key+values)
		case graph.DoesNotExist:
			out = append(out, "!"+r.Key+values)
		default:
			out = append(out, fmt.Sprintf("%s ?%d %s", r.Key, r.Op, values))
		}
	}
	return strings.Join(out, ",")
}
