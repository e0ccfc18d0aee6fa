package spec

import (
	"errors"
	"strings"
	"testing"

	"graphview.dev/graphview/graph"
)

var (
	widgetKind = graph.Kind{Group: "example.com", Kind: "Widget"}
	gadgetKind = graph.Kind{Group: "example.com", Kind: "Gadget"}
)

func TestCompileRule(t *testing.T) {
	good := RuleReference{Path: "spec.gadgets[].name", NamespacePath: "spec.gadgets[].namespace", To: gadgetKind}
	many := make([]RuleReference, maxRuleReferences+1)
	for i := range many {
		many[i] = good
	}
	for name, tt := range map[string]struct {
		from       graph.Kind
		references []RuleReference
		health     string
		wantReason string
		want       []string // the beginnings of the errors
	}{
		"paths":       {references: []RuleReference{good, {Path: "spec.a", To: gadgetKind, Type: graph.Transitive}}},
		"expressions": {references: []RuleReference{{Expression: "[]"}, {Expression: "obj.spec.all", Type: graph.Transitive}}},
		"as many":     {references: many[1:]},
		"too many":    {references: many, wantReason: "InvalidExpression", want: []string{"spec.references: must have at most 32 references, has 33"}},
		"none":        {wantReason: "InvalidExpression", want: []string{"spec: declares nothing; set references, health or both"}},
		"every kind": {
			from: graph.Kind{Group: "*", Kind: "*"}, references: []RuleReference{good},
			wantReason: "InvalidExpression", want: []string{"spec.from: must be one kind and its group, without patterns"},
		},
		"words":                {references: []RuleReference{{Path: "spec.a", To: gadgetKind, Word: "is backed up by"}, {Expression: "[]", Word: "feeds"}}},
		"a word of two lines":  {references: []RuleReference{{Path: "spec.a", To: gadgetKind, Word: "feeds\nit"}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].word: must be lower-case words such as feeds"}},
		"too long a word":      {references: []RuleReference{{Expression: "[]", Word: strings.Repeat("a", 33)}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].word: must be lower-case words such as feeds"}},
		"an owner":             {references: []RuleReference{{Path: "spec.a", To: gadgetKind, Type: graph.OwnerReference}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].type: must be r or t"}},
		"path and expression":  {references: []RuleReference{{Path: "spec.a", Expression: "[]"}}, wantReason: "InvalidExpression", want: []string{"spec.references[0]: has exactly one of path and expression"}},
		"neither":              {references: []RuleReference{{}}, wantReason: "InvalidExpression", want: []string{"spec.references[0]: has exactly one of path and expression"}},
		"an expression's kind": {references: []RuleReference{{Expression: "[]", To: gadgetKind}}, wantReason: "InvalidExpression", want: []string{"spec.references[0]: an expression names group, kind and namespace itself"}},
		"no kind":              {references: []RuleReference{{Path: "spec.a"}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].to.kind: must be the name of a kind"}},
		"a path": {
			references: []RuleReference{good, {Path: "{.spec.a}", To: gadgetKind}},
			wantReason: ReasonInvalidPath, want: []string{`spec.references[1].path: path "{.spec.a}": expected a key`},
		},
		"a namespace's path": {
			references: []RuleReference{{Path: "spec.a[].name", NamespacePath: "spec.b[].name", To: gadgetKind}},
			wantReason: ReasonInvalidPath, want: []string{`spec.references[0].namespacePath: path "spec.b[].name": enters a list or a map that path does not enter`},
		},
		"health alone":      {health: "'ok'"},
		"health and a path": {health: "{'state': 'ok', 'ready': 1, 'wanted': 2}", references: []RuleReference{good}},
		"no state":          {health: "{'reason': 'Up'}", wantReason: "InvalidExpression", want: []string{"spec.health.expression: line 1, column 1: the map needs a state"}},
		"no state of ours": {
			health: "'Healthy'", wantReason: "InvalidExpression",
			want: []string{"spec.health.expression: line 1, column 1: 'Healthy' is none of the states ok, progressing, degraded, suspended, unknown"},
		},
		"all of it": {
			references: []RuleReference{{Expression: "[nme]"}, {Path: "a..b", To: gadgetKind}, good, {Expression: "1"}},
			wantReason: "InvalidExpression", want: []string{
				`spec.references[0].expression: line 1, column 2: unknown name or function 'nme'`,
				`spec.references[1].path: path "a..b"`,
				`spec.references[3].expression: expression must evaluate to a list of maps with group, kind, name and, optionally, namespace, not int`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := tt.from
			if from.Kind == "" {
				from = widgetKind
			}
			_, err := CompileRule(t.Context(), nil, Rule{From: from, References: tt.references, Health: tt.health})
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				if err != nil || tt.want != nil {
					t.Fatalf("error %v, want %q", err, tt.want)
				}
				return
			}
			if invalid.Reason != tt.wantReason {
				t.Errorf("reason %s, want %s", invalid.Reason, tt.wantReason)
			}
			texts := invalid.Texts()
			if len(texts) != len(tt.want) {
				t.Fatalf("errors %q, want %q", texts, tt.want)
			}
			for i, text := range texts {
				if !strings.HasPrefix(text, tt.want[i]) {
					t.Errorf("error %q, want %q", text, tt.want[i])
				}
			}
		})
	}
}
