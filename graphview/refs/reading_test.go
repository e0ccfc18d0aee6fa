package refs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// TestReading extracts by what a schema tells: what it says of a field, conventions do
// not.
func TestReading(t *testing.T) {
	served := servedBy("example.com/Widget", "example.com/Exchange")
	kind, object := decode(t, []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {
		target: ex, bucket: {name: b, key: k}, secretName: fixed, byZone: {east: {rules: {name: r, key: k}}, west: {rules: {name: "{{r}}", key: k}}}, other: {secretName: s}}}`))
	reading, err := served.Read(kind, schemaOf(t, strings.ReplaceAll(`
		target: {type: string, description: Name of the Exchange.}
		bucket: {type: object, properties: {name: {type: string}, key: {type: string}}}
		secretName: {type: string, enum: [fixed]}
		byZone: {type: object, additionalProperties: {type: object, properties: {rules: {type: object, properties: {name: {type: string}, key: {type: string, description: The key to select.}}}}}}`, "\t", "")))
	if err != nil {
		t.Fatal(err)
	}
	x := Builtin().Serving(served)
	with := x.Reading(map[graph.Kind]*Reading{kind: reading})
	if diff := cmp.Diff(lines(`
		r core/ConfigMap own/b inferred/spec.bucket.name
		r core/ConfigMap own/r spec.byZone{}.rules.name
		r core/Secret own/b inferred/spec.bucket.name
		r core/Secret own/s spec.other.secretName
		r example.com/Exchange own/ex inferred/spec.target`), sorted(render(with.Extract(kind, object)))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if !with.Guesses(kind) || with.Shape(kind) != everything {
		t.Error("conventions say nothing any more")
	}
}

// TestReadingBesideRules: somebody's own rules replace the conventions for a kind, and
// nothing of what its schema tells. What is looked at holds both.
func TestReadingBesideRules(t *testing.T) {
	served := servedBy("example.com/Widget", "example.com/Exchange")
	text := []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {target: ex, plain: p, other: {secretName: s}}}`)
	kind, object := decode(t, text)
	reading, err := served.Read(kind, schemaOf(t, "{target: {type: string, description: Name of the Exchange.}}"))
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	const schema = "r example.com/Exchange own/ex inferred/spec.target"
	for name, test := range map[string]struct {
		rules []Rule
		want  []string
	}{
		"Rule":        {[]Rule{{Path: "spec.plain", To: fixed(graph.Kind{Kind: "ConfigMap"}), Scope: graph.ScopeNamespaced}}, lines("r core/ConfigMap own/p spec.plain\n" + schema)},
		"Expressions": {nil, lines(schema)}, // of which there is no path
	} {
		t.Run(name, func(t *testing.T) {
			own := Declared{Replace: true}
			for i := range test.rules {
				test.rules[i].From = kind
				rule, err := Compile(&test.rules[i])
				if err != nil {
					t.Fatal(err)
				}
				own.Rules = append(own.Rules, rule)
			}
			x := Extended(map[graph.Kind]Declared{kind: own}).Serving(served).Reading(map[graph.Kind]*Reading{kind: reading})
			part, err := jsontree.Part(asJSON, x.Shape(kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []map[string]any{object, part} {
				if diff := cmp.Diff(test.want, sorted(render(x.Extract(kind, of)))); diff != "" {
					t.Errorf("references (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestReadingOfItself: a description that names the object's own kind may mean the name
// that an object gives to itself.
func TestReadingOfItself(t *testing.T) {
	served := servedBy("example.com/Exchange")
	kind := graph.Kind{Group: "example.com", Kind: "Exchange"}
	reading, err := served.Read(kind, schemaOf(t, "{title: {type: string, description: The name of the Exchange.}}"))
	if err != nil {
		t.Fatal(err)
	}
	x := Builtin().Serving(served).Reading(map[graph.Kind]*Reading{kind: reading})
	for name, test := range map[string]struct {
		title string
		want  []string
	}{
		"Itself":  {title: "orders"},
		"Another": {title: "returns", want: []string{"r example.com/Exchange own/returns inferred/spec.title"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, object := decode(t, []byte("{apiVersion: example.com/v1, kind: Exchange, metadata: {name: orders, namespace: own}, spec: {title: "+test.title+"}}"))
			if diff := cmp.Diff(test.want, render(x.Extract(kind, object))); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
