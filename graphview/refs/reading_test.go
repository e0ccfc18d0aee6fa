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

// TestReading extracts by the rules of a schema: conventions do not apply to its fields.
func TestReading(t *testing.T) {
	kind, object := decode(t, []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {
		bucket: {name: b, key: k}, secretName: fixed, byZone: {east: {rules: {name: r, key: k}}, west: {rules: {name: "{{r}}", key: k}}}, other: {secretName: s}}}`))
	served := servedBy("example.com/Widget")
	reading, err := served.Read(kind, schemaOf(t, strings.ReplaceAll(`
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
		r core/Secret own/s spec.other.secretName`), sorted(render(with.Extract(kind, object)))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if !with.Guesses(kind) || with.Shape(kind) != everything {
		t.Error("conventions do not apply any more")
	}
}

// TestReadingBesideRules: a ReferenceRule replaces the conventions for a kind, and none of
// the rules of its schema. The shape of the kind holds the fields of both.
func TestReadingBesideRules(t *testing.T) {
	served := servedBy("example.com/Widget")
	text := []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {rules: {name: r, key: k}, plain: p, other: {secretName: s}}}`)
	kind, object := decode(t, text)
	reading, err := served.Read(kind, schemaOf(t, "{rules: {type: object, properties: {name: {type: string}, key: {type: string, description: The key to select.}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	const bySchema = "r core/ConfigMap own/r spec.rules.name"
	for name, test := range map[string]struct {
		rules []Rule
		want  []string
	}{
		"Rule":        {[]Rule{{Path: "spec.plain", To: fixed(graph.Kind{Kind: "ConfigMap"}), Scope: graph.ScopeNamespaced}}, lines("r core/ConfigMap own/p spec.plain\n" + bySchema)},
		"Expressions": {nil, lines(bySchema)}, // they have no path
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

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
