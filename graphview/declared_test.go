package graphview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// healths returns the health in the summaries of a view's objects, by name.
func healths(t *testing.T, l *graph.Lens) map[string]string {
	t.Helper()
	got := map[string]string{}
	var from graph.Position
	if _, err := l.Read(&from, 100, graph.Reading{All: true}, func(c graph.Change) bool {
		if c.Op != graph.SetVertex {
			return true
		}
		text, err := delivery.Summarize(c.Vertex.Group, c.Payload.(delivery.Object), false)
		if err != nil {
			t.Error(err)
		}
		var s streamv1alpha1.Summary
		if err := json.Unmarshal(text, &s); err != nil {
			t.Error(err)
		}
		got[c.Vertex.Name] = strings.TrimSpace(fmt.Sprintf("%s %s", cmp.Or(s.Health, "unknown"), s.Why))
		if s.Ready != nil {
			got[c.Vertex.Name] += fmt.Sprintf(" %d/%d", s.Ready[0], s.Ready[1])
		}
		if s.Overdue != 0 {
			got[c.Vertex.Name] += fmt.Sprintf(" since %d overdue %d", s.Since, s.Overdue)
		}
		return true
	}); err != nil {
		t.Error(err)
	}
	return got
}

// TestDeclaredHealth: what rules say of a kind's health is what views count and
// summaries have, while objects stay as they are, and goes with the rules.
func TestDeclaredHealth(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 3), Budget: 1_000_000})
	followed := follow(t, e, yes)
	patience.Await(t, "the list", func() bool { return followed.vertices() == 3 })
	for _, step := range []struct {
		what, rule, health string // no health: the rule is removed
		want               v1alpha1.HealthCounts
		wantC0, wantC1     string
		wantWarning        string
	}{
		{what: "before", want: v1alpha1.HealthCounts{Unknown: 3}, wantC0: "unknown", wantC1: "unknown"},
		{
			what: "a rule", rule: "b", health: "name == 'c1' ? {'state': 'ok', 'reason': 'Up and running'} : {'state': 'degraded', 'ready': 1, 'wanted': 2}",
			want: v1alpha1.HealthCounts{OK: 1, Degraded: 2}, wantC0: "degraded 1/2", wantC1: "ok Up",
		},
		{
			what: "one that comes first, and has no opinion of one", rule: "a", health: "name == 'c1' ? '' : 'suspended'",
			want: v1alpha1.HealthCounts{OK: 1, Suspended: 2}, wantC0: "suspended", wantC1: "ok Up",
		},
		{what: "one that comes later", rule: "c", health: "'ok'", want: v1alpha1.HealthCounts{OK: 1, Suspended: 2}, wantC0: "suspended", wantC1: "ok Up"},
		{what: "another reason, the same state", rule: "b", health: "{'state': 'ok', 'reason': 'Fine'}", want: v1alpha1.HealthCounts{OK: 1, Suspended: 2}, wantC0: "suspended", wantC1: "ok Fine"},
		{
			what: "one that fails", rule: "a", health: "obj.data.absent", want: v1alpha1.HealthCounts{Unknown: 3}, wantC0: "unknown", wantC1: "unknown",
			wantWarning: "reference rule a: spec.health.expression: no such key: data",
		},
		{
			what: "one that is overdue since 1970", rule: "a", health: "{'state': 'progressing', 'since': '1970-01-01T00:00:01Z'}",
			want: v1alpha1.HealthCounts{Degraded: 3}, wantC0: "progressing since 1 overdue 601", wantC1: "progressing since 1 overdue 601",
		},
		{what: "without it", rule: "a", want: v1alpha1.HealthCounts{OK: 3}, wantC0: "ok Fine", wantC1: "ok Fine"},
		{what: "without another", rule: "b", want: v1alpha1.HealthCounts{OK: 3}, wantC0: "ok", wantC1: "ok"},
		{what: "without any", rule: "c", want: v1alpha1.HealthCounts{Unknown: 3}, wantC0: "unknown", wantC1: "unknown"},
	} {
		t.Log(step.what)
		var err error
		switch {
		case step.rule == "":
		case step.health == "":
			e.RemoveRule(step.rule)
		default:
			err = e.ApplyRule(t.Context(), step.rule, v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(intake.KindOf(configMapsResource)), Health: &v1alpha1.HealthDeclaration{Expression: step.health}})
		}
		if err != nil {
			t.Fatal(err)
		}
		patience.Await(t, step.what, func() bool {
			got, lines := healths(t, followed.view.lens), strings.Join(followed.view.warnings.Summary(false), "\n")
			return got["c0"] == step.wantC0 && got["c1"] == step.wantC1 && healthOf(followed.view.lens.Classes()) == step.want &&
				strings.Contains(lines, step.wantWarning) && (lines == "") == (step.wantWarning == "")
		})
	}
}
