package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// startRules runs a manager with the reconciler of rules until the test ends, as
// the operator, with the shipped rights.
func startRules(t *testing.T, engine controllers.RuleEngine, o controllers.Options) *controllers.ReferenceRuleReconciler {
	t.Helper()
	operator := cluster.ClientConfig("system:serviceaccount:"+env.ServiceNamespace+":graphview-manager",
		"system:serviceaccounts", "system:serviceaccounts:"+env.ServiceNamespace, "system:authenticated")
	mgr := newManager(t, operator, func(*ctrl.Options) {})
	reconciler := controllers.NewReferenceRuleReconciler(engine, o)
	if err := reconciler.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, mgr.Start)
	return reconciler
}

// widgetsRule is a ReferenceRule of the test's Widgets with one path.
func widgetsRule(group, path string) *v1alpha1.ReferenceRule {
	return &v1alpha1.ReferenceRule{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: v1alpha1.ReferenceRuleSpec{
			From:       v1alpha1.GroupKind{Group: group, Kind: "Widget"},
			References: []v1alpha1.ReferenceDeclaration{{Path: path, To: &v1alpha1.GroupKind{Group: group, Kind: "Gadget"}}},
		},
	}
}

// waitRule waits until the conditions of a rule are those, and gets the rule.
func waitRule(t *testing.T, c client.Client, rule *v1alpha1.ReferenceRule, want ...string) {
	t.Helper()
	eventually(t, soon, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(rule), rule); err != nil {
			return err.Error()
		}
		var got []string
		for _, c := range rule.Status.Conditions {
			if c.Type == v1alpha1.ConditionEffective && !strings.HasPrefix(want[0], c.Type) && !strings.HasPrefix(want[len(want)-1], c.Type) {
				continue // asked for where it matters
			}
			got = append(got, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
			if c.ObservedGeneration != rule.Generation || rule.Status.ObservedGeneration != rule.Generation {
				got = append(got, fmt.Sprintf("%s is of generation %d", c.Type, c.ObservedGeneration))
			}
		}
		slices.Sort(got)
		return cmp.Diff(want, got)
	})
}

func editRule(t *testing.T, c client.Client, rule *v1alpha1.ReferenceRule, change func(*v1alpha1.ReferenceRule)) (err error) {
	t.Helper()
	eventually(t, soon, func() string {
		if err = c.Get(t.Context(), client.ObjectKeyFromObject(rule), rule); err != nil {
			return err.Error()
		}
		change(rule)
		if err = c.Update(t.Context(), rule); apierrors.IsConflict(err) {
			return err.Error() // the controller writes, too
		}
		return ""
	})
	return err
}

// TestReferenceRule: a ReferenceRule is in force as long as it is accepted, on an
// open stream; its status, its columns and Events say so; the webhook refuses
// with the words of the condition what is not.
func TestReferenceRule(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	group := ruleKinds(t, c, namespace)
	port := installWebhook(t, c)
	engine := runEngine(t, graphview.Options{})
	reconciler := startRules(t, engine, controllers.Options{})
	<-reconciler.Known()
	putObject(t, c, group, "Gadget", namespace, "g", map[string]any{})
	putObject(t, c, group, "Widget", namespace, "w", map[string]any{"gadget": "g", "spare": "h"})
	v := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '" + group + "'"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	f := follow(t.Context(), mustApply(t, engine, "rule", v))
	becomes(t, f, v)
	shows := func(references string) {
		t.Helper()
		now := v
		if references != "" {
			declared := parseRule(t, group, "widgets", references)
			declared.Spec.Conventions = "Keep"
			now.Rules = []oracle.Rule{declared}
		}
		becomes(t, f, now)
	}

	rule := widgetsRule(group, "spec.gadget")
	create(t, c, rule)
	waitRule(t, c, rule, "Accepted=True/Accepted", "Effective=True/Effective")
	shows("[{path: spec.gadget, to: {group: GROUP, kind: Gadget}}]")
	out := fixture.Kubectl(t, cluster, "get", "referencerules", rule.Name)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if got, want := strings.Join(strings.Fields(lines[0]), " "), "NAME KIND GROUP ACCEPTED REASON AGE"; got != want {
		t.Errorf("columns %q, want %q", got, want)
	}
	if got, want := strings.Join(strings.Fields(lines[1])[:5], " "), rule.Name+" Widget "+group+" True Accepted"; got != want {
		t.Errorf("row %q, want %q", got, want)
	}

	// Without a webhook that answers, the condition is what an author gets.
	worse := func(r *v1alpha1.ReferenceRule) { r.Spec.References[0].Path = "spec..gadget" }
	if err := editRule(t, c, rule, worse); err != nil {
		t.Fatal(err)
	}
	waitRule(t, c, rule, "Accepted=False/InvalidPath", "Stalled=True/NotAccepted")
	shows("")
	said := meta.FindStatusCondition(rule.Status.Conditions, "Accepted").Message
	const want = `spec.references[0].path: path "spec..gadget": expected a key at ".gadget"; expected keys joined by dots`
	if !strings.HasPrefix(said, want) {
		t.Errorf("the condition says %q, want %q", said, want)
	}
	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) {
		r.Spec.References = []v1alpha1.ReferenceDeclaration{{Expression: "[{'group': '', 'kind': 'Node', 'nam': name}]", Type: "t"}}
	}); err != nil {
		t.Fatal(err)
	}
	waitRule(t, c, rule, "Accepted=False/InvalidExpression", "Stalled=True/NotAccepted")
	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec = widgetsRule(group, "spec.spare").Spec }); err != nil {
		t.Fatal(err)
	}
	waitRule(t, c, rule, "Accepted=True/Accepted")
	shows("[{path: spec.spare, to: {group: GROUP, kind: Gadget}}]")
	wantRuleEvents(t, c, rule, "Normal Accepted Compile", "Warning InvalidExpression Compile", "Warning InvalidPath Compile")

	startWebhook(t, port, certificateClock(), controllers.Options{})
	untilAsked(t, c, namespace)
	refuses := func(err error) string {
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			return ""
		}
		text, _ := strings.CutPrefix(status.ErrStatus.Message, `admission webhook "referencerules.graphview.dev" denied the request: `)
		return text
	}
	invalid := widgetsRule(group, "spec..gadget")
	invalid.Name = "invalid." + group
	if got := refuses(c.Create(t.Context(), invalid, client.DryRunAll)); got != said {
		t.Errorf("the webhook says %q\nthe condition said %q", got, said)
	}
	if got := refuses(editRule(t, c, rule, worse)); got != said {
		t.Errorf("the webhook says %q of an edit\nthe condition said %q", got, said)
	}
	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Labels = map[string]string{"a": "b"} }); err != nil {
		t.Errorf("a label: %v", err)
	}
	t.Run("kubectl says the field and the remedy", func(t *testing.T) {
		err := fixture.TryApply(t, cluster, "apiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: bad}\n"+
			"spec: {from: {group: "+group+", kind: Widget}, references: [{expression: \"[name]\"}]}\n")
		want := `The ReferenceRule "bad" is invalid: spec.references[0].expression: expression must evaluate to a list of maps with group, kind, name`
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("kubectl: %v\nwant %s", err, want)
		}
	})

	remove(t, c, rule)
	shows("")
	t.Run("what comes of it", func(t *testing.T) { effectOfRule(t, c, group) })
}

// TestReferenceRulesOfAReplica: every replica's engine has the rules before Known is
// closed, and only the elected one writes status.
func TestReferenceRulesOfAReplica(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	group := ruleKinds(t, c, namespace)
	installWebhook(t, c)
	rule := widgetsRule(group, "spec.gadget")
	create(t, c, rule)
	engine := &ruleLog{}
	election := newElection(t, namespace, "this")
	reconciler := startRules(t, engine, controllers.Options{Election: election})
	<-reconciler.Known()
	engine.mu.Lock()
	got := slices.Contains(engine.applied, rule.Name)
	engine.mu.Unlock()
	if !got {
		t.Error("the engine was not told of a rule that there was")
	}
	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec.References[0].Path = "spec.spare" }); err != nil {
		t.Fatal(err)
	}
	eventually(t, soon, func() string {
		engine.mu.Lock()
		defer engine.mu.Unlock()
		if engine.last != "spec.spare" {
			return "the engine was last told of " + engine.last
		}
		return ""
	})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(rule), rule); err != nil {
		t.Fatal(err)
	}
	if len(rule.Status.Conditions) > 0 {
		t.Errorf("a replica that is not elected wrote %v", rule.Status.Conditions)
	}
	fixture.Start(t, election.Run)
	waitRule(t, c, rule, "Accepted=True/Accepted")
}

func wantRuleEvents(t *testing.T, c client.Client, rule *v1alpha1.ReferenceRule, want ...string) {
	t.Helper()
	eventually(t, soon, func() string {
		var list eventsv1.EventList
		if err := c.List(t.Context(), &list, client.InNamespace(metav1.NamespaceDefault)); err != nil {
			return err.Error()
		}
		var got []string
		for _, e := range list.Items {
			if e.Regarding.UID == rule.UID && e.ReportingController == "graphview-controller" {
				got = append(got, e.Type+" "+e.Reason+" "+e.Action)
			}
		}
		slices.Sort(got)
		return cmp.Diff(want, slices.Compact(got))
	})
}

// ruleLog is an engine that notes what it is told.
type ruleLog struct {
	mu      sync.Mutex
	applied []string
	last    string // path
}

func (l *ruleLog) ApplyRule(_ context.Context, name string, rule v1alpha1.ReferenceRuleSpec) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.applied, l.last = append(l.applied, name), rule.References[0].Path
	return nil
}

func (l *ruleLog) RemoveRule(string) {}

func (l *ruleLog) RuleEffect(context.Context, string) graphview.RuleEffect {
	return graphview.RuleEffect{}
}

func (l *ruleLog) ServedChanged() <-chan struct{} { return nil }
