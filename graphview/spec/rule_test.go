package spec

import (
	"errors"
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
)

var (
	widgetKind = v1alpha1.GroupKind{Group: "example.com", Kind: "Widget"}
	gadgetKind = v1alpha1.GroupKind{Group: "example.com", Kind: "Gadget"}
)

func TestCompileRule(t *testing.T) {
	good := v1alpha1.ReferenceDeclaration{Path: "spec.gadgets[].name", NamespacePath: "spec.gadgets[].namespace", To: &gadgetKind}
	many := make([]v1alpha1.ReferenceDeclaration, maxRuleReferences+1)
	for i := range many {
		many[i] = good
	}
	for name, tt := range map[string]struct {
		from       v1alpha1.GroupKind
		references []v1alpha1.ReferenceDeclaration
		health     string
		policy     v1alpha1.ConventionPolicy
		wantReason string
		want       []string // the beginnings of the errors
	}{
		"paths":       {references: []v1alpha1.ReferenceDeclaration{good, {Path: "spec.a", To: &gadgetKind, Type: "t"}}},
		"expressions": {references: []v1alpha1.ReferenceDeclaration{{Expression: "[]"}, {Expression: "obj.spec.all", Type: "t"}}},
		"as many":     {references: many[1:]},
		"too many":    {references: many, wantReason: "InvalidExpression", want: []string{"spec.references: must have at most 32 references, has 33"}},
		"none":        {wantReason: "InvalidExpression", want: []string{"spec: declares nothing; set references, health or both"}},
		"every kind": {
			from: v1alpha1.GroupKind{Group: "*", Kind: "*"}, references: []v1alpha1.ReferenceDeclaration{good},
			wantReason: "InvalidExpression", want: []string{"spec.from: must be one kind and its group, without patterns"},
		},
		"words":                {references: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", To: &gadgetKind, Word: "is backed up by"}, {Expression: "[]", Word: "feeds"}}},
		"a word of two lines":  {references: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", To: &gadgetKind, Word: "feeds\nit"}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].word: must be lower-case words such as feeds"}},
		"too long a word":      {references: []v1alpha1.ReferenceDeclaration{{Expression: "[]", Word: strings.Repeat("a", 33)}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].word: must be lower-case words such as feeds"}},
		"an owner":             {references: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", To: &gadgetKind, Type: "or"}}, wantReason: v1alpha1.ReasonUnsupported, want: []string{`spec.references[0].type: unknown reference type "or", expected r or t; change the spec, or upgrade the operator`}},
		"a policy":             {health: "'ok'", policy: v1alpha1.ConventionsReplace},
		"no policy of ours":    {health: "'ok'", policy: "Ask", wantReason: v1alpha1.ReasonUnsupported, want: []string{`spec.conventions: unknown policy "Ask", expected Keep or Replace; change the spec, or upgrade the operator`}},
		"path and expression":  {references: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", Expression: "[]"}}, wantReason: "InvalidExpression", want: []string{"spec.references[0]: has exactly one of path and expression"}},
		"neither":              {references: []v1alpha1.ReferenceDeclaration{{}}, wantReason: "InvalidExpression", want: []string{"spec.references[0]: has exactly one of path and expression"}},
		"an expression's kind": {references: []v1alpha1.ReferenceDeclaration{{Expression: "[]", To: &gadgetKind}}, wantReason: "InvalidExpression", want: []string{"spec.references[0]: an expression names group, kind and namespace itself"}},
		"no kind":              {references: []v1alpha1.ReferenceDeclaration{{Path: "spec.a"}}, wantReason: "InvalidExpression", want: []string{"spec.references[0].to.kind: must be the name of a kind"}},
		"a path": {
			references: []v1alpha1.ReferenceDeclaration{good, {Path: "{.spec.a}", To: &gadgetKind}},
			wantReason: v1alpha1.ReasonInvalidPath, want: []string{`spec.references[1].path: path "{.spec.a}": expected a key`},
		},
		"a namespace's path": {
			references: []v1alpha1.ReferenceDeclaration{{Path: "spec.a[].name", NamespacePath: "spec.b[].name", To: &gadgetKind}},
			wantReason: v1alpha1.ReasonInvalidPath, want: []string{`spec.references[0].namespacePath: path "spec.b[].name": enters a list or a map that path does not enter`},
		},
		"health alone":      {health: "'ok'"},
		"health and a path": {health: "{'state': 'ok', 'ready': 1, 'wanted': 2}", references: []v1alpha1.ReferenceDeclaration{good}},
		"no state":          {health: "{'reason': 'Up'}", wantReason: "InvalidExpression", want: []string{"spec.health.expression: line 1, column 1: the map needs a state"}},
		"no state of ours": {
			health: "'Healthy'", wantReason: "InvalidExpression",
			want: []string{"spec.health.expression: line 1, column 1: 'Healthy' is none of the states ok, progressing, degraded, suspended, unknown"},
		},
		"all of it": {
			references: []v1alpha1.ReferenceDeclaration{{Expression: "[nme]"}, {Path: "a..b", To: &gadgetKind}, good, {Expression: "1"}},
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
			declared := v1alpha1.ReferenceRuleSpec{From: from, References: tt.references, Conventions: tt.policy}
			if tt.health != "" {
				declared.Health = &v1alpha1.HealthDeclaration{Expression: tt.health}
			}
			_, err := CompileRule(t.Context(), nil, declared)
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
