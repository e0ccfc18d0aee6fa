package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/resources"
)

const head = "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: a, namespace: b}\n"

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		text        string
		options     Options
		want        []string
		wantChecked int
		wantSkipped int
	}{
		"well": {
			text:        head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: namespaced}\n",
			wantChecked: 1,
		},
		"nothing":           {text: "# nothing\n"},
		"empty documents":   {text: "---\n---\n# nothing\n---\n"},
		"other kinds":       {text: "apiVersion: v1\nkind: Secret\ndata: {a: 5}\n---\napiVersion: v1\nkind: Pod\n", wantSkipped: 2},
		"a list":            {text: "- a\n", want: []string{"f:1: a document is to be an object, with apiVersion and kind"}},
		"no YAML":           {text: "apiVersion: v1\nkind: [\n", want: []string{"f:2: this is no YAML: line 2: did not find expected node content"}},
		"a template":        {text: "apiVersion: v1\nkind: {{ .Kind }}\n", want: []string{"f:2: a key is to be a text; is this a template?"}},
		"a key twice":       {text: head + "spec: {}\nspec: {}\n", want: []string{`f:5: "spec" is here twice`}},
		"an unknown kind":   {text: "apiVersion: graphview.dev/v1alpha1\nkind: GrafView\n", want: []string{"f:2: GrafView: kind: graphview.dev/v1alpha1 has no kind GrafView"}, wantChecked: 1},
		"no spec":           {text: head, want: []string{"f:1: GraphView b/a: spec: Required value"}, wantChecked: 1},
		"a type":            {text: head + "spec:\n  queries: yes\n", want: []string{`f:5: GraphView b/a: spec.queries: must be a list, is a boolean`}, wantChecked: 1},
		"a field too many":  {text: head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: namespaced}\n  rots: {}\n", want: []string{"f:7: GraphView b/a: spec.rots: there is no such field"}, wantChecked: 1},
		"a status is there": {text: head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: namespaced}\nstatus: {vertices: many}\n", wantChecked: 1},
		"a rule in CEL": {
			text:        head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: namespaced}\n  -\n    exclude: {resourceSelectorExpression: namespaced}\n    include: {resourceSelectorExpression: namespaced}\n",
			want:        []string{"f:8: GraphView b/a: spec.queries[1]: a query has exactly one of include and exclude: remove one, or make it two queries in the order in which they should be tried"},
			wantChecked: 1,
		},
		"an expression": {
			text:        head + "spec:\n  queries:\n  - include:\n      resourceSelectorExpression: >-\n        namespaced &&\n        reource == 'pods'\n",
			want:        []string{`f:7: GraphView b/a: spec.queries[0].include.resourceSelectorExpression: line 1, column 15: unknown name or function 'reource'; the variables are group, version, resource, kind and namespaced: "namespaced && reource == 'pods'"`},
			wantChecked: 1,
		},
		"the line within an expression": {
			text:        head + "spec:\n  queries:\n  - include:\n      resourceSelectorExpression: |-\n        namespaced &&\n        reource == 'pods'\n",
			want:        []string{`f:9: GraphView b/a: spec.queries[0].include.resourceSelectorExpression: line 2, column 1: unknown name or function 'reource'; the variables are group, version, resource, kind and namespaced: "namespaced &&\nreource == 'pods'"`},
			wantChecked: 1,
		},
		"an anchor": {
			text: "a: &q {queries: [{include: {resourceSelectorExpression: nothing}}]}\n---\n" + head + "spec: &s\n  queries:\n  - &i\n    include: &e {resourceSelectorExpression: nothing}\n  - include: *e\n",
			want: []string{
				`f:9: GraphView b/a: spec.queries[0].include.resourceSelectorExpression: line 1, column 1: unknown name or function 'nothing'; the variables are group, version, resource, kind and namespaced: "nothing"`,
				`f:9: GraphView b/a: spec.queries[1].include.resourceSelectorExpression: line 1, column 1: unknown name or function 'nothing'; the variables are group, version, resource, kind and namespaced: "nothing"`,
			},
			wantChecked: 1, wantSkipped: 1,
		},
		"a list of objects": {
			text:        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n- apiVersion: graphview.dev/v1alpha1\n  kind: GraphView\n  metadata: {name: a}\n  spec:\n    queries:\n    - include: {resourceSelectorExpression: 'x'}\n",
			want:        []string{`f:11: GraphView a: spec.queries[0].include.resourceSelectorExpression: line 1, column 1: unknown name or function 'x'; the variables are group, version, resource, kind and namespaced: "x"`},
			wantChecked: 1, wantSkipped: 1,
		},
		"without a ServiceAccount where it is required": {
			text:        head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: namespaced}\n",
			options:     Options{RequireServiceAccount: true},
			want:        []string{"f:4: GraphView b/a: spec.serviceAccountName: "},
			wantChecked: 1,
		},
		"a ReferenceRule": {
			text: "apiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: widgets}\nspec:\n  from: {group: example.com, kind: Widget}\n" +
				"  references:\n  - path: spec.gadgets[].name\n    to: {group: example.com, kind: Gadget}\n  - expression: \"[nothing]\"\n",
			want:        []string{"f:9: ReferenceRule widgets: spec.references[1].expression: line 1, column 2: unknown name or function 'nothing'"},
			wantChecked: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checker, err := New(test.options)
			if err != nil {
				t.Fatal(err)
			}
			r := checker.Check(t.Context(), "f", []byte(test.text))
			if r.Checked != test.wantChecked || r.Skipped != test.wantSkipped {
				t.Errorf("%d checked, %d skipped, want %d and %d", r.Checked, r.Skipped, test.wantChecked, test.wantSkipped)
			}
			for i, p := range r.Problems {
				if i >= len(test.want) || !strings.HasPrefix(p.String(), test.want[i]) {
					t.Errorf("unexpected: %s", p)
				}
			}
			if len(r.Problems) < len(test.want) {
				t.Errorf("%d problems, want %d", len(r.Problems), len(test.want))
			}
		})
	}
}

// TestAdvice: against a cluster, parts of a spec that have no effect are named, and are
// no problems.
func TestAdvice(t *testing.T) {
	text := head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: \"resource == 'pod'\"}\n  namespaces:\n    names: [shop, shpo]\n"
	served := resources.NewCatalog([]resources.Resource{{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}, nil)
	tests := map[string]struct {
		cluster *Cluster
		want    []string
	}{
		"no cluster": {},
		"namespaces that may not be listed": {&Cluster{Served: served}, []string{
			"f:6: GraphView b/a: spec.queries[0].include.resourceSelectorExpression: it matches nothing: the cluster serves no resource 'pod'; did you mean 'pods'?",
		}},
		"namespaces": {&Cluster{Served: served, Namespaces: []string{"shop"}}, []string{
			"f:6: GraphView b/a: spec.queries[0].include.resourceSelectorExpression: it matches nothing: the cluster serves no resource 'pod'; did you mean 'pods'?",
			"f:8: GraphView b/a: spec.namespaces.names[1]: there is no namespace 'shpo'; did you mean 'shop'?",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checker, err := New(Options{Cluster: test.cluster})
			if err != nil {
				t.Fatal(err)
			}
			r := checker.Check(t.Context(), "f", []byte(text))
			var got []string
			for _, a := range r.Advice {
				got = append(got, a.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(r.Problems) > 0 {
				t.Errorf("problems %v, advice (-want +got):\n%s", r.Problems, diff)
			}
		})
	}
}

// The samples in config/samples have no problems.
func TestSamples(t *testing.T) {
	checker, err := New(Options{RequireServiceAccount: true})
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files([]string{filepath.Join("..", "..", "..", "..", "config", "samples")}, true)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		text, err := Read(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := checker.Check(t.Context(), file, text)
		checked += r.Checked
		for _, p := range r.Problems {
			t.Error(p)
		}
	}
	if checked == 0 {
		t.Error("no sample was checked")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yml", "c.json", "d.txt", "deeper/e.yaml"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("a: b"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	tests := map[string]struct {
		names     []string
		recursive bool
		want      []string
		wantErr   bool
	}{
		"a folder":              {names: []string{dir}, want: []string{in("a.yml"), in("b.yaml"), in("c.json")}},
		"folders below":         {names: []string{dir}, recursive: true, want: []string{in("a.yml"), in("b.yaml"), in("c.json"), in("deeper/e.yaml")}},
		"a file of any name":    {names: []string{in("d.txt"), Stdin}, want: []string{in("d.txt"), Stdin}},
		"nothing of that name":  {names: []string{in("x")}, wantErr: true},
		"not from the internet": {names: []string{"https://example.com/a.yaml"}, wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Files(test.names, test.recursive)
			if (err != nil) != test.wantErr {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is in a file, checking it ends, and names lines that are there.
func FuzzCheck(f *testing.F) {
	f.Add(head + "spec:\n  queries:\n  - include: {resourceSelectorExpression: namespaced}\n")
	f.Add(head + "spec: &a\n  queries: [*a]\n")
	f.Add("apiVersion: v1\nkind: List\nitems: [{apiVersion: graphview.dev/v1alpha1, kind: ReferenceRule}]\n")
	f.Add("{\"apiVersion\": \"graphview.dev/v1alpha1\", \"kind\": \"GraphView\", \"metadata\": 5}")
	checker, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 2
		for _, p := range checker.Check(t.Context(), "f", []byte(text)).Problems {
			if p.Line < 0 || p.Line > lines {
				t.Errorf("line %d of %d: %s", p.Line, lines, p)
			}
		}
	})
}
