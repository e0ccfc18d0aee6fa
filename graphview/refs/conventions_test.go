package refs

import (
	"testing"

	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
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
			if got := conventions(nil, graph.Kind{Group: "example.com"}, test.object, nodes{}); len(got) != test.want {
				t.Errorf("%d references, want %d: %v", len(got), test.want, render(got))
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
