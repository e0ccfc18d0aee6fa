package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
)

// newer is an arc type of a version of GraphView that is yet to come.
const newer = "newer"

// TestUnsupportedSpecs: of a spec that says what this version does not know, as one
// for a newer version may, nothing is in force, nor is what an earlier spec said;
// its condition says so, and it is served again when it is mended.
func TestUnsupportedSpecs(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	group := ruleKinds(t, c, namespace)
	installWebhook(t, c) // and with it the operator's rights
	notifier := &controllers.Notifier{}
	engine := runEngine(t, graphview.Options{Notify: notifier.Notify})
	rules := startRules(t, engine, controllers.Options{})
	views := startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{StatusInterval: 100 * time.Millisecond})
	putObject(t, c, group, "Gadget", namespace, "g", map[string]any{})
	putObject(t, c, group, "Widget", namespace, "w", map[string]any{"gadget": "g"})

	rule := widgetsRule(group, "spec.gadget")
	create(t, c, rule)
	view := configMapsView(namespace)
	view.Spec.Queries[0].Include.ResourceSelectorExpression = "group == '" + group + "'"
	view.Spec.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"true"}, IgnoreArcDirection: []v1alpha1.ArcType{"or"}}
	create(t, c, view)
	waitOutcomes(t, c, view, outcomeReady...)
	waitRule(t, c, rule, "Accepted=True/Accepted")
	shown := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '" + group + "'"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
		Rules:      []oracle.Rule{parseRule(t, group, "widgets", "[{path: spec.gadget, to: {group: GROUP, kind: Gadget}}]")},
	}
	f := follow(t.Context(), mustApply(t, engine, "witness", shown))
	becomes(t, f, shown)
	before := engine.Watches()

	const schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/"
	allowNewer(t, c, "graphviews.graphview.dev", schema+"roots/properties/ignoreArcDirection/items/enum")
	allowNewer(t, c, "referencerules.graphview.dev", schema+"references/items/properties/type/enum")
	editView := func(types ...v1alpha1.ArcType) {
		t.Helper()
		eventually(t, soon, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
				return err.Error()
			}
			view.Spec.Roots.IgnoreArcDirection = types
			if err := c.Update(t.Context(), view); err != nil {
				return err.Error() // the schema is served a moment later, and the controller writes too
			}
			return ""
		})
	}
	says := func(conditions []metav1.Condition, want string) {
		t.Helper()
		if got := meta.FindStatusCondition(conditions, v1alpha1.ConditionAccepted).Message; !strings.HasPrefix(got, want) {
			t.Errorf("Accepted says %q, want %q", got, want)
		}
	}

	editView("or", newer)
	waitOutcomes(t, c, view, outcomeRefused(v1alpha1.ReasonUnsupported)...)
	says(view.Status.Conditions, `spec.roots.ignoreArcDirection[1]: unknown reference type "newer", expected or, r or t`)
	eventually(t, soon, func() string {
		if v, ok := engine.View(nameOf(view)); !ok || v.Err() == nil || v.Status().Served {
			return "the earlier spec is served"
		}
		return ""
	})

	var editErr error
	eventually(t, soon, func() string {
		editErr = editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec.References[0].Type = newer })
		if editErr != nil {
			return editErr.Error()
		}
		return ""
	})
	waitRule(t, c, rule, "Accepted=False/Unsupported", "Stalled=True/NotAccepted")
	says(rule.Status.Conditions, `spec.references[0].type: unknown reference type "newer", expected r or t`)
	bare := shown
	bare.Rules = nil
	becomes(t, f, bare)

	// A replica that starts with them is known to know all.
	again := startRules(t, runEngine(t, graphview.Options{}), controllers.Options{})
	<-again.Known()
	<-rules.Known()
	<-views.Known()

	editView("or")
	waitOutcomes(t, c, view, outcomeReady...)
	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec.References[0].Type = "r" }); err != nil {
		t.Fatal(err)
	}
	waitRule(t, c, rule, "Accepted=True/Accepted")
	becomes(t, f, shown)
	eventually(t, soon, func() string {
		if n := engine.Watches(); n != before {
			return fmt.Sprintf("%d watches, %d before", n, before)
		}
		return ""
	})
}

// allowNewer adds newer to an enum of a CustomResourceDefinition, until the test ends.
func allowNewer(t *testing.T, c client.Client, name, enum string) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
		t.Fatal(err)
	}
	before := crd.DeepCopy()
	patch := client.RawPatch(types.JSONPatchType, fmt.Appendf(nil, `[{"op": "add", "path": %q, "value": %q}]`, enum+"/-", newer))
	if err := c.Patch(t.Context(), crd, patch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		back := client.MergeFrom(crd.DeepCopy())
		crd.Spec = before.Spec
		if err := c.Patch(context.Background(), crd, back); err != nil {
			t.Error(err)
		}
	})
}
