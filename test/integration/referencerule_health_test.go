package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// summaryFollower is a subscriber of summaries.
type summaryFollower struct {
	mu        sync.Mutex
	summaries map[string]string // by name of the object
	sent      int
}

func followSummaries(t *testing.T, v *graphview.View) *summaryFollower {
	t.Helper()
	f := &summaryFollower{summaries: map[string]string{}}
	s := subscriber.New()
	s.Heard = f.hear
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	follower := followSubscription(ctx, s, v.Subscribe(delivery.SubscribeOptions{Content: delivery.SummaryOnly}))
	t.Cleanup(func() {
		stop()
		<-follower.done
		if err := follower.Err(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *summaryFollower) hear(text []byte) error {
	var m struct {
		Actions []struct {
			Set *struct {
				Vertex struct {
					Name string `json:"n"`
				} `json:"vx"`
				Summary struct {
					Health string  `json:"h"`
					Why    string  `json:"w"`
					Ready  []int64 `json:"rd"`
				} `json:"m"`
			} `json:"svx"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range m.Actions {
		if a.Set != nil {
			f.sent++
			f.summaries[a.Set.Vertex.Name] = fmt.Sprint(a.Set.Summary.Health, " ", a.Set.Summary.Why, " ", a.Set.Summary.Ready)
		}
	}
	return nil
}

// TestReferenceRuleHealth: a platform team says how objects of its own kind are, and
// open streams and the counts of views say the same, without a list.
func TestReferenceRuleHealth(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	group := ruleKinds(t, c, namespace)
	installWebhook(t, c)
	engine := runEngine(t, graphview.Options{})
	<-startRules(t, engine, controllers.Options{}).Known()
	putObject(t, c, group, "Widget", namespace, "up", map[string]any{"wanted": int64(2), "ready": int64(2)})
	putObject(t, c, group, "Widget", namespace, "down", map[string]any{"wanted": int64(2), "ready": int64(1)})
	putObject(t, c, group, "Widget", namespace, "odd", map[string]any{})
	putObject(t, c, group, "Gadget", namespace, "g", map[string]any{})
	view := mustApply(t, engine, "health", oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '" + group + "'"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	})
	f := followSummaries(t, view)
	shows := func(wantWarnings int, want v1alpha1.HealthCounts, summaries map[string]string) {
		t.Helper()
		eventually(t, soon, func() string {
			f.mu.Lock()
			defer f.mu.Unlock()
			s := view.Status()
			if s.Health != want || len(s.Warnings) != wantWarnings {
				return fmt.Sprintf("health %+v, want %+v; warnings %q", s.Health, want, s.Warnings)
			}
			return cmp.Diff(summaries, f.summaries)
		})
	}
	const unknown = "  []"
	shows(0, v1alpha1.HealthCounts{Unknown: 4}, map[string]string{"up": unknown, "down": unknown, "odd": unknown, "g": unknown})

	rule := widgetsRule(group, "")
	rule.Spec.References = nil
	rule.Spec.Health = &v1alpha1.HealthDeclaration{Expression: "{'state': obj.spec.ready >= obj.spec.wanted ? 'ok' : 'degraded', 'reason': obj.spec.ready < obj.spec.wanted ? 'TooFew' : '', 'ready': obj.spec.ready, 'wanted': obj.spec.wanted}"}
	create(t, c, rule)
	waitRule(t, c, rule, "Accepted=True/Accepted")
	shows(1, v1alpha1.HealthCounts{OK: 1, Degraded: 1, Unknown: 2}, map[string]string{"up": "ok  [2 2]", "down": "degraded TooFew [1 2]", "odd": unknown, "g": unknown})

	putObject(t, c, group, "Widget", namespace, "down", map[string]any{"wanted": int64(2), "ready": int64(3)})
	shows(1, v1alpha1.HealthCounts{OK: 2, Unknown: 2}, map[string]string{"up": "ok  [2 2]", "down": "ok  [3 2]", "odd": unknown, "g": unknown})

	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec.Health.Expression = "has(obj.spec.ready) ? 'suspended' : ''" }); err != nil {
		t.Fatal(err)
	}
	shows(0, v1alpha1.HealthCounts{Suspended: 2, Unknown: 2}, map[string]string{"up": "suspended  []", "down": "suspended  []", "odd": unknown, "g": unknown})

	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec.Health.Expression = "'Healthy'" }); err != nil {
		t.Fatal(err)
	}
	waitRule(t, c, rule, "Accepted=False/InvalidExpression", "Stalled=True/NotAccepted")
	shows(0, v1alpha1.HealthCounts{Unknown: 4}, map[string]string{"up": unknown, "down": unknown, "odd": unknown, "g": unknown})
	f.mu.Lock()
	defer f.mu.Unlock()
	// Four at first, two by the rule, one for the failing one, two by the next rule, and two without a rule.
	if want := 4 + 2 + 1 + 2 + 2; f.sent != want {
		t.Errorf("%d summaries were sent, want %d: each only when it is another", f.sent, want)
	}
}
