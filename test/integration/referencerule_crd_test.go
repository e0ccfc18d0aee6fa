package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
)

// baseRule is a ReferenceRule that uses every field; each case changes one thing.
const baseRule = `
apiVersion: graphview.dev/v1alpha1
kind: ReferenceRule
metadata: {name: base}
spec:
  from: {group: example.com, kind: Widget}
  references:
  - path: spec.gadgets[].name
    to: {group: example.com, kind: Gadget}
    namespacePath: spec.gadgets[].namespace
    type: r
    word: is backed up by
  - expression: "[]"
    type: t
  health: {expression: "'ok'"}
`

// withReference replaces all references by one.
func withReference(text string) func(t *testing.T, rule map[string]any) {
	return func(t *testing.T, rule map[string]any) {
		t.Helper()
		specAt([]any{parseYAML(t, text)}, "references")(t, rule)
	}
}

func TestReferenceRuleValidation(t *testing.T) {
	const to = `to: {group: example.com, kind: Gadget}`
	expressions := func(n int) []any { return copies(n, map[string]any{"expression": "[]"}) }
	tests := map[string]struct {
		change    func(t *testing.T, rule map[string]any)
		wantError string
	}{
		"every field": {change: func(*testing.T, map[string]any) {}},
		"no spec":     {change: func(_ *testing.T, rule map[string]any) { delete(rule, "spec") }, wantError: `spec: Required value`},

		"from: core":            {change: withPart("from", `{kind: Pod}`)},
		"from: core, empty":     {change: withPart("from", `{group: "", kind: Pod}`)},
		"from: absent":          {change: specAt(nil, "from"), wantError: `spec.from: Required value`},
		"from: no kind":         {change: withPart("from", `{group: apps}`), wantError: `spec.from.kind: Required value`},
		"from: a version":       {change: withPart("from", `{group: apps/v1, kind: Deployment}`), wantError: `spec.from.group: Invalid value: "apps/v1": must be the name of an API group such as apps or example.com, without a version`},
		"from: every kind":      {change: withPart("from", `{group: apps, kind: "*"}`), wantError: `spec.from.kind: Invalid value: "*": must be the name of a kind such as Widget`},
		"from: a long group":    {change: withPart("from", `{group: `+letters(253)+`, kind: A}`)},
		"from: too long":        {change: withPart("from", `{group: `+letters(254)+`, kind: A}`), wantError: `spec.from.group: Too long: may not be more than 253`},
		"from: a long kind":     {change: withPart("from", `{kind: `+letters(63)+`}`)},
		"from: too long a kind": {change: withPart("from", `{kind: `+letters(64)+`}`), wantError: `spec.from.kind: Too long: may not be more than 63`},

		"references: absent": {change: specAt(nil, "references")},
		"references: none":   {change: specAt([]any{}, "references"), wantError: `spec.references in body should have at least 1 items`},
		"health: absent":     {change: specAt(nil, "health")},
		"neither references nor health": {change: func(t *testing.T, rule map[string]any) {
			t.Helper()
			specAt(nil, "references")(t, rule)
			specAt(nil, "health")(t, rule)
		}, wantError: `spec: Invalid value: a rule declares references, health or both`},
		"health: no expression":     {change: withPart("health", `{}`), wantError: `spec.health.expression: Required value`},
		"health: empty":             {change: withPart("health", `{expression: ""}`), wantError: `spec.health.expression in body should be at least 1 chars long`},
		"health: a long expression": {change: withPart("health", `{expression: `+letters(10240)+`}`)},
		"health: too long":          {change: withPart("health", `{expression: `+letters(10241)+`}`), wantError: `spec.health.expression: Too long: may not be more than 10240`},
		"references: 32":            {change: specAt(expressions(32), "references")},
		"references: 33":            {change: specAt(expressions(33), "references"), wantError: `spec.references: Too many: 33: must have at most 32 items`},

		"word: one":                  {change: withReference(`{path: a, word: feeds, ` + to + `}`)},
		"word: empty":                {change: withReference(`{path: a, word: "", ` + to + `}`), wantError: `spec.references[0].word in body should be at least 1 chars long`},
		"word: long":                 {change: withReference(`{path: a, word: ` + letters(32) + `, ` + to + `}`)},
		"word: too long":             {change: withReference(`{path: a, word: ` + letters(33) + `, ` + to + `}`), wantError: `spec.references[0].word: Too long: may not be more than 32`},
		"word: of other characters":  {change: withReference(`{path: a, word: "Feeds!", ` + to + `}`), wantError: `spec.references[0].word: Invalid value: "Feeds!": must be lower-case words with single spaces between them`},
		"path":                       {change: withReference(`{path: spec.a, ` + to + `}`)},
		"path and expression":        {change: withReference(`{path: spec.a, expression: "[]", ` + to + `}`), wantError: `spec.references[0]: Invalid value: a reference has exactly one of path and expression`},
		"neither":                    {change: withReference(`{type: r}`), wantError: `a reference has exactly one of path and expression: remove one, or make it two references`},
		"path without to":            {change: withReference(`{path: spec.a}`), wantError: `path needs to, the kind of the objects that it names`},
		"expression with to":         {change: withReference(`{expression: "[]", ` + to + `}`), wantError: `path needs to, the kind of the objects that it names`},
		"to: no kind":                {change: withReference(`{path: spec.a, to: {group: example.com}}`), wantError: `spec.references[0].to.kind: Required value`},
		"to: a plural":               {change: withReference(`{path: spec.a, to: {kind: config/maps}}`), wantError: `spec.references[0].to.kind: Invalid value: "config/maps": must be the name of a kind`},
		"expression with namespaces": {change: withReference(`{expression: "[]", namespacePath: spec.b}`), wantError: `namespacePath needs path; an expression returns the namespace itself`},
		"a long path":                {change: withReference(`{path: ` + letters(1024) + `, ` + to + `}`)},
		"too long a path":            {change: withReference(`{path: ` + letters(1025) + `, ` + to + `}`), wantError: `spec.references[0].path: Too long: may not be more than 1024`},
		"too long a namespacePath":   {change: withReference(`{path: a, namespacePath: ` + letters(1025) + `, ` + to + `}`), wantError: `spec.references[0].namespacePath: Too long: may not be more than 1024`},
		"an empty path":              {change: withReference(`{path: "", ` + to + `}`), wantError: `spec.references[0].path in body should be at least 1 chars long`},
		"an empty expression":        {change: withReference(`{expression: ""}`), wantError: `spec.references[0].expression in body should be at least 1 chars long`},
		"a long expression":          {change: withReference(`{expression: ` + letters(10240) + `}`)},
		"too long an expression":     {change: withReference(`{expression: ` + letters(10241) + `}`), wantError: `spec.references[0].expression: Too long: may not be more than 10240`},
		"type: t":                    {change: withReference(`{path: spec.a, type: t, ` + to + `}`)},
		"type: or":                   {change: withReference(`{path: spec.a, type: or, ` + to + `}`), wantError: `spec.references[0].type: Unsupported value: "or": supported values: "r", "t"`},
	}
	c := newClient(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rule := parseYAML(t, baseRule)
			tt.change(t, rule)
			err := c.Create(t.Context(), &unstructured.Unstructured{Object: rule}, client.DryRunAll)
			switch {
			case tt.wantError == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.wantError != "" && err == nil:
				t.Errorf("accepted, want %q", tt.wantError)
			case tt.wantError != "" && !strings.Contains(err.Error(), tt.wantError):
				t.Errorf("refused with %q, want %q", err, tt.wantError)
			}
		})
	}
	t.Run("the default type is r", func(t *testing.T) {
		rule := &unstructured.Unstructured{Object: parseYAML(t, baseRule)}
		withReference(`{expression: "[]"}`)(t, rule.Object)
		if err := c.Create(t.Context(), rule, client.DryRunAll); err != nil {
			t.Fatal(err)
		}
		references, _, _ := unstructured.NestedSlice(rule.Object, "spec", "references")
		if got := references[0].(map[string]any)["type"]; got != "r" {
			t.Errorf("type %v, want r", got)
		}
	})
	for _, sample := range []string{"referencerule.yaml", "referencerule_health.yaml"} {
		t.Run(sample+" is accepted", func(t *testing.T) {
			rule := &v1alpha1.ReferenceRule{}
			readShipped(t, rule, "samples", sample)
			if err := c.Create(t.Context(), rule, client.DryRunAll); err != nil {
				t.Error(err)
			}
			if err := validation.ReferenceRule(t.Context(), nil, rule); err != nil {
				t.Error(err)
			}
		})
	}
}
