package graphview

import (
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// TestRefuseUntil: an engine refuses specs with expressions for objects for some time, and then accepts the
// same specs. It accepts other specs at any time.
func TestRefuseUntil(t *testing.T) {
	widget := graph.Kind{Kind: "Widget"}
	view := func(object v1alpha1.ObjectFilter) func(*Engine) error {
		return func(e *Engine) error { return e.Apply(t.Context(), Name{"shop", "frontend"}, "uid", selecting(object)) }
	}
	resources := func(expression string) func(*Engine) error {
		return func(e *Engine) error {
			return e.Apply(t.Context(), Name{"shop", "frontend"}, "uid", v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{
				{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: "group == 'apps'"}},
				{Include: &v1alpha1.Include{ResourceSelectorExpression: expression}},
			}})
		}
	}
	rule := func(r v1alpha1.ReferenceRuleSpec) func(*Engine) error {
		r.From = v1alpha1.GroupKind(widget)
		return func(e *Engine) error { return e.ApplyRule(t.Context(), "r", r) }
	}
	for name, test := range map[string]struct {
		apply   func(*Engine) error
		refused bool
	}{
		"all objects":               {apply: view(v1alpha1.ObjectFilter{})},
		"labels and fields":         {apply: view(v1alpha1.ObjectFilter{LabelSelector: "app=web", FieldSelector: "metadata.name=x"})},
		"an expression for objects": {apply: view(v1alpha1.ObjectFilter{ObjectSelectorExpression: "true"}), refused: true},
		"a path":                    {apply: view(v1alpha1.ObjectFilter{JSONPath: "{.status}"}), refused: true},
		"fields of objects":         {apply: view(v1alpha1.ObjectFilter{Fields: map[string]v1alpha1.FieldPath{"phase": ".status.phase"}}), refused: true},
		"comparisons of resources":  {apply: resources("group in ['', 'apps'] && (resource == 'pods' || namespaced)")},
		"a function on resources":   {apply: resources("resource.startsWith ('pod')"), refused: true},
		"a rule with a path":        {apply: rule(v1alpha1.ReferenceRuleSpec{References: []v1alpha1.ReferenceDeclaration{{Path: "spec.name", To: new(v1alpha1.GroupKind(widget))}}})},
		"a rule with an expression": {apply: rule(v1alpha1.ReferenceRuleSpec{References: []v1alpha1.ReferenceDeclaration{{Expression: "[]"}}}), refused: true},
		"a rule with a health":      {apply: rule(v1alpha1.ReferenceRuleSpec{Health: &v1alpha1.HealthDeclaration{Expression: "{'state': 'ok'}"}}), refused: true},
		"a request with expressions": {refused: true, apply: func(e *Engine) error {
			v, err := e.Open(t.Context(), OpenOptions{Spec: selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: "true"}), Subscriber: person("ann"), Rights: grantAll()})
			if err == nil {
				e.CloseView(v)
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			until := time.Now().Add(10 * time.Minute)
			e, err := NewEngine(Options{Config: &rest.Config{}, RefuseUntil: until})
			if err != nil {
				t.Fatal(err)
			}
			err = test.apply(e)
			invalid, _ := errors.AsType[*spec.InvalidError](err)
			switch {
			case !test.refused && err != nil:
				t.Error(err)
			case test.refused && (invalid == nil || invalid.Reason != v1alpha1.ReasonQuarantined || !invalid.Until.Equal(until)):
				t.Errorf("got %v, want a refusal until %v", err, until)
			}
			if v, ok := e.View(Name{"shop", "frontend"}); ok && test.refused {
				if closed, _ := errors.AsType[*delivery.ClosedError](v.Err()); closed == nil || closed.Reason != reason.Unavailable {
					t.Errorf("streams end with %v, want a reason to try again", v.Err())
				}
			}
			e.o.RefuseUntil = time.Now()
			if err := test.apply(e); err != nil {
				t.Errorf("later: %v", err)
			}
		})
	}
}
