package refs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// TestScenariosOfEveryKind wants an object of each kind of the table whose
// references a reader can check.
func TestScenariosOfEveryKind(t *testing.T) {
	shown := map[graph.Kind]bool{}
	for kind, object := range goldenObjects(t) {
		shown[kind.Kind] = shown[kind.Kind] || len(Builtin().Extract(kind.Kind, object)) > 0
	}
	for _, rule := range BuiltinRules() {
		if rule.From != AnyKind && !shown[rule.From] {
			shown[rule.From] = true
			t.Errorf("no scenario shows references of %s", kindString(rule.From))
		}
	}
}

// unshown is the number of rows in a file without a scenario. Only a scenario finds a
// misspelt path of a kind that is not of Kubernetes, so these numbers must not grow.
var unshown = map[string]int{
	"table/argo.refs": 23, "table/carvel.refs": 7, "table/certmanager.refs": 24, "table/cluster.refs": 20,
	"table/clusterapi.refs": 2, "table/crossplane.refs": 3, "table/externalsecrets.refs": 143, "table/flux.refs": 5,
	"table/gateway.refs": 4, "table/istio.refs": 2, "table/keda.refs": 7, "table/knative.refs": 2,
	"table/kubernetes.refs": 5, "table/kyverno.refs": 3, "table/monitors.refs": 23, "table/others.refs": 8,
	"table/podspec.refs": 2, "table/prometheus.refs": 23, "table/tekton.refs": 17, "table/velero.refs": 3,
}

// TestScenariosOfEveryRow wants an object that has the field of each row, but for those
// that had none when the test was written.
func TestScenariosOfEveryRow(t *testing.T) {
	type found struct {
		kind  graph.Kind
		field string
	}
	inScenarios := map[found]bool{}
	for object, content := range goldenObjects(t) {
		for _, r := range Builtin().Extract(object.Kind, content) {
			inScenarios[found{object.Kind, strings.TrimPrefix(r.Field, graph.InferredField)}] = true
		}
	}
	shown := map[string]bool{} // by the row's place, and its path for people
	var note func(kind graph.Kind, prefix string, rows []row)
	note = func(kind graph.Kind, prefix string, rows []row) {
		for _, r := range rows {
			path := join(prefix, r.rule.Path)
			if r.include != "" {
				note(kind, path, builtin().table.templates[r.include])
				continue
			}
			at := r.place + " " + r.rule.Path
			if r.rule.Remote != "" {
				x, err := New(r.rule.withPrefix(prefix, kind))
				if err != nil {
					t.Fatal(err)
				}
				for object, content := range goldenObjects(t) {
					shown[at] = shown[at] || object.Kind == kind && len(x.remotes(kind, content)) > 0
				}
				continue
			}
			shown[at] = shown[at] || kind == AnyKind || inScenarios[found{kind, path}]
		}
	}
	for _, h := range builtin().table.headings {
		for _, kind := range h.kinds {
			note(kind, "", h.rows)
		}
	}
	missing := map[string][]string{}
	for _, at := range slices.Sorted(maps.Keys(shown)) {
		if !shown[at] {
			file, _, _ := strings.Cut(at, ":")
			missing[file] = append(missing[file], at)
		}
	}
	for file, rows := range missing {
		if len(rows) > unshown[file] {
			t.Errorf("%s: no scenario in testdata shows %d rows, %d more than before; add an object that has the field, and its reference:\n%s",
				file, len(rows), len(rows)-unshown[file], strings.Join(rows, "\n"))
		}
	}
	for file, n := range unshown {
		if have := len(missing[file]); have < n {
			t.Errorf("%s: only %d rows have no scenario any more: say so in unshown", file, have)
		}
	}
}

func TestConventionsGiveUp(t *testing.T) {
	deep := map[string]any{"secretName": "a"}
	for range 2 * maxGuessDepth {
		deep = map[string]any{"next": deep}
	}
	wide := map[string]any{"secretName": "a"}
	list := make([]any, 2*maxGuessed)
	wide["list"] = list
	for name, test := range map[string]struct {
		object map[string]any
		want   int
	}{
		"TooDeep":   {map[string]any{"spec": deep, "secretName": "b"}, 1},
		"TooMuch":   {wide, 0},
		"Nil":       {nil, 0},
		"Bound":     {map[string]any{"secretName": "a", "list": list[:maxGuessed/2]}, 1},
		"Templated": {map[string]any{"aRef": map[string]any{"name": "a", "namespace": "{{ns}}"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if test.object != nil {
				test.object["metadata"] = map[string]any{"namespace": "own"}
			}
			if got := conventions(nil, graph.Kind{Group: "example.com"}, test.object, nodes{}, maxGuessed); len(got) != test.want {
				t.Errorf("%d references, want %d: %v", len(got), test.want, render(got))
			}
		})
	}
}

// TestKeysOfPaths: a key that would end a path's line, or begin the word after it, is in no
// path: not of an object, nor of a schema, nor of a rule.
func TestKeysOfPaths(t *testing.T) {
	widget := graph.Kind{Group: "example.com", Kind: "Widget"}
	served := NewServed(map[graph.Kind]graph.Scope{widget: graph.ScopeNamespaced, {Group: "example.com", Kind: "Gadget"}: graph.ScopeNamespaced})
	for name, test := range map[string]struct {
		key  string
		want bool
	}{
		"Plain":         {"a", true},
		"Annotation":    {"example.com/a", true},
		"Quote":         {`a"b`, true},
		"Word":          {"x\x00\"]}}],\"actions\":[{", false},
		"Line":          {"a\nb", false},
		"Escape":        {"a\x1b[2Jb", false},
		"Delete":        {"a\x7fb", false},
		"NextLine":      {"a\u0085b", false},
		"LineSeparator": {"a\u2028b", false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(map[string]any{
				"metadata": map[string]any{"namespace": "own", "name": "w"},
				"spec": map[string]any{test.key: map[string]any{
					"secretName": "a", "aRef": map[string]any{"kind": "Other", "name": "b"}, "gadget": "c", "url": "http://d",
					"widgetSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var object map[string]any
			if err := json.Unmarshal(text, &object); err != nil {
				t.Fatal(err)
			}
			found := conventions(served, widget, object, nodes{}, maxGuessed)
			if want := 5; test.want && len(found) != want || !test.want && len(found) != 0 {
				t.Errorf("an object has %d references: %q", len(found), render(found))
			}
			selector := &schema.Schema{Type: "object", Properties: []schema.Property{
				{Key: "key", Schema: &schema.Schema{Type: "string", KeyOf: "Secret"}}, {Key: "name", Schema: &schema.Schema{Type: "string"}},
			}}
			spec := &schema.Schema{Type: "object", Properties: []schema.Property{{Key: test.key, Schema: selector}}}
			bySchema, err := served.SchemaRules(widget, &schema.Schema{Type: "object", Properties: []schema.Property{{Key: "spec", Schema: spec}}})
			if err != nil || (len(bySchema.Rules) == 1) != test.want {
				t.Errorf("a schema has rules %+v, %v", bySchema.Rules, err)
			}
			if err := CheckPath("spec['" + test.key + "'].name"); (err == nil) != test.want {
				t.Errorf("of a rule's path: %v", err)
			}
		})
	}
}

func TestLists(t *testing.T) {
	for kind, want := range map[graph.Kind]bool{
		{Kind: "Pod"}:                          true,
		{Kind: "Namespace"}:                    false,
		{Group: "example.com", Kind: "Widget"}: false,
		AnyKind:                                false,
	} {
		if got := Builtin().Lists(kind); got != want {
			t.Errorf("Lists(%s) = %t", kindString(kind), got)
		}
	}
	// A rule for a kind ends the guesses about it.
	var object map[string]any
	if err := yaml.Unmarshal([]byte(`{spec: {secretName: a, nodeName: b}}`), &object); err != nil {
		t.Fatal(err)
	}
	x, err := New(Rule{From: odd, Path: "spec.nodeName", To: coreKind("Node"), Scope: graph.ScopeCluster})
	if err != nil {
		t.Fatal(err)
	}
	if got := render(x.Extract(odd, object)); len(got) != 1 {
		t.Errorf("references %v", got)
	}
}
