package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/spec"
)

var (
	widgetKind = graph.Kind{Group: "example.com", Kind: "Widget"}
	gadgetKind = graph.Kind{Group: "example.com", Kind: "Gadget"}
)

// TestFingerprint: a change gives the kinds that it concerns a fingerprint that they never
// had before, and no other kind a new one.
func TestFingerprint(t *testing.T) {
	kicks := 0
	s := NewSet(func() { kicks++ })
	compile := func(rule v1alpha1.ReferenceRuleSpec) *Rule {
		t.Helper()
		program, err := spec.CompileRule(t.Context(), nil, rule)
		if err != nil {
			t.Fatal(err)
		}
		return &Rule{RuleProgram: program}
	}
	byPath := func(from graph.Kind) *Rule {
		return compile(v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(from), References: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", To: new(v1alpha1.GroupKind(widgetKind))}}})
	}
	byExpression := func(from graph.Kind) *Rule {
		return compile(v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(from), References: []v1alpha1.ReferenceDeclaration{{Expression: "[]"}}})
	}
	replacing := compile(v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(gadgetKind), Conventions: v1alpha1.ConventionsReplace, References: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", To: new(v1alpha1.GroupKind(widgetKind))}}})
	serve := func(kinds ...graph.Kind) func() {
		served := map[graph.Kind]graph.Scope{}
		for _, kind := range kinds {
			served[kind] = graph.ScopeNamespaced
		}
		return func() { s.Serve(refs.NewServed(served)) }
	}
	read := func(kinds ...graph.Kind) func() {
		readings := map[graph.Kind]*refs.Reading{}
		for _, kind := range kinds {
			reading, err := refs.NewServed(nil).Read(kind, withSelectors("a"))
			if err != nil {
				t.Fatal(err)
			}
			readings[kind] = reading
		}
		return func() { s.setReadings(readings) }
	}
	var (
		otherKind = graph.Kind{Group: "example.org", Kind: "Other"}
		podKind   = graph.Kind{Kind: "Pod"}
		all       = []graph.Kind{widgetKind, gadgetKind, otherKind, podKind}
		seen      = map[graph.Kind]map[Fingerprint]bool{}
		last      = map[graph.Kind]Fingerprint{}
	)
	for _, kind := range all {
		seen[kind] = map[Fingerprint]bool{last[kind]: true}
	}
	for _, step := range []struct {
		name   string
		change func()
		// want are the kinds whose objects have to be read again.
		want map[graph.Kind]bool
	}{
		{"a rule", func() { s.Declare("a", byPath(widgetKind)) }, map[graph.Kind]bool{widgetKind: true}},
		{"an expression", func() { s.Declare("b", byExpression(gadgetKind)) }, map[graph.Kind]bool{gadgetKind: true}},
		{"a rule moves to another kind, which has an expression", func() { s.Declare("a", byPath(gadgetKind)) }, map[graph.Kind]bool{widgetKind: true, gadgetKind: true}},
		{"the expression goes", func() { s.Declare("b", nil) }, map[graph.Kind]bool{gadgetKind: true}},
		{"it is gone already", func() { s.Declare("b", nil) }, nil},
		{"the rule goes", func() { s.Declare("a", nil) }, map[graph.Kind]bool{gadgetKind: true}},
		{"an expression comes and goes", func() { s.Declare("b", byExpression(gadgetKind)); s.Declare("b", nil) }, map[graph.Kind]bool{gadgetKind: true}},
		{"a rule comes back", func() { s.Declare("a", byPath(widgetKind)) }, map[graph.Kind]bool{widgetKind: true}},
		{"kinds are served", serve(gadgetKind, otherKind), map[graph.Kind]bool{{Kind: "Pod"}: true, widgetKind: true, gadgetKind: true, otherKind: true}},
		{"the same kinds are served", serve(gadgetKind, otherKind), nil},
		{"a domain serves another kind", serve(gadgetKind, widgetKind, otherKind), map[graph.Kind]bool{widgetKind: true, gadgetKind: true}},
		{"a rule replaces conventions", func() { s.Declare("c", replacing) }, map[graph.Kind]bool{gadgetKind: true}},
		{"nothing is inferred for a kind without conventions", serve(otherKind), map[graph.Kind]bool{widgetKind: true}},
		{"schemas are read", read(gadgetKind, otherKind), map[graph.Kind]bool{gadgetKind: true, otherKind: true}},
		{"the same schemas are read", read(gadgetKind, otherKind), nil},
		{"a schema goes", read(otherKind), map[graph.Kind]bool{gadgetKind: true}},
		{"it comes back", read(gadgetKind, otherKind), map[graph.Kind]bool{gadgetKind: true}},
	} {
		kicks = 0
		step.change()
		if (kicks > 0) != (len(step.want) > 0) {
			t.Errorf("%s: %d changes are signalled", step.name, kicks)
		}
		var got map[graph.Kind]bool
		for _, kind := range all {
			now := s.Current().Fingerprint(kind)
			if now == last[kind] {
				continue
			}
			if got == nil {
				got = map[graph.Kind]bool{}
			}
			if got[kind] = true; seen[kind][now] {
				t.Errorf("%s: %s has a fingerprint that it had before", step.name, kind.Kind)
			}
			seen[kind][now], last[kind] = true, now
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: kinds to read again (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestConventionsBesideRules: conventions apply to a kind that has rules, unless one of
// the rules replaces them.
func TestConventionsBesideRules(t *testing.T) {
	s := NewSet(func() {})
	shape := func() bool {
		return s.Current().Extractor.Shape(widgetKind) == refs.Builtin().Shape(widgetKind)
	}
	for _, step := range []struct {
		rule v1alpha1.ReferenceRuleSpec
		want bool
	}{
		{v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind), Health: &v1alpha1.HealthDeclaration{Expression: "'ok'"}}, true},
		{v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind), Health: &v1alpha1.HealthDeclaration{Expression: "'ok'"}, References: []v1alpha1.ReferenceDeclaration{{Expression: "[]"}}}, true},
		{v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind), Health: &v1alpha1.HealthDeclaration{Expression: "'ok'"}, References: []v1alpha1.ReferenceDeclaration{{Expression: "[]"}}, Conventions: v1alpha1.ConventionsReplace}, false},
	} {
		p, err := spec.CompileRule(t.Context(), nil, step.rule)
		if err != nil {
			t.Fatal(err)
		}
		s.Declare("a", &Rule{RuleProgram: p})
		if diff := cmp.Diff(step.want, shape()); diff != "" {
			t.Errorf("%+v: conventions apply (-want +got):\n%s", step.rule, diff)
		}
	}
}
