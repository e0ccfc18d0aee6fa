package integration

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
	"graphview.dev/test/seed"
	"graphview.dev/test/workload"
)

// ruleKinds installs the kinds Widget and Gadget, and Site, which is
// cluster-scoped, in a group of the test's own.
func ruleKinds(t *testing.T, c client.Client, namespace string) (group string) {
	t.Helper()
	if err := apiextensionsv1.AddToScheme(c.Scheme()); err != nil {
		t.Fatal(err)
	}
	group = strings.ReplaceAll(namespace, "-", "") + ".example.com"
	for kind, scope := range map[string]apiextensionsv1.ResourceScope{
		"Widget": apiextensionsv1.NamespaceScoped, "Gadget": apiextensionsv1.NamespaceScoped, "Site": apiextensionsv1.ClusterScoped,
	} {
		plural := strings.ToLower(kind) + "s"
		crd := &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: group, Scope: scope, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{crdVersion("v1", true)},
			},
		}
		create(t, c, crd)
	}
	return group
}

// putObject makes or replaces an object of these kinds.
func putObject(t *testing.T, c client.Client, group, kind, namespace, name string, spec map[string]any) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
	if kind != "Site" {
		o.SetNamespace(namespace)
	}
	eventually(t, soon, func() string {
		// A kind that was just installed is served a moment later.
		err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("test"), client.ForceOwnership)
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

func parseRule(t *testing.T, group, name, references string) oracle.Rule {
	t.Helper()
	r, err := oracle.ParseRule([]byte(strings.ReplaceAll(
		"metadata: {name: "+name+"}\nspec:\n  from: {group: GROUP, kind: Widget}\n  conventions: Replace\n  references: "+references, "GROUP", group)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func applyRule(t *testing.T, e *graphview.Engine, r oracle.Rule) {
	t.Helper()
	rule, err := workload.Rule(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ApplyRule(t.Context(), r.Metadata.Name, rule); err != nil {
		t.Fatal(err)
	}
}

// declarations are what the rules of the random test choose from.
var declarations = []string{
	"{path: 'spec.gadgets[].name', to: {group: GROUP, kind: Gadget}, namespacePath: 'spec.gadgets[].namespace'}",
	"{path: 'spec.gadgets[].name', to: {group: GROUP, kind: Widget}, namespacePath: 'spec.elsewhere', type: t}",
	"{path: 'spec.site', to: {group: GROUP, kind: Site}, namespacePath: 'spec.elsewhere'}",
	"{path: 'spec.byColour{}.names[]', to: {group: GROUP, kind: Gadget}, type: t}",
	"{path: 'spec.site', to: {kind: Node}}",
	"{expression: \"has(obj.spec.site) ? [{'group': 'GROUP', 'kind': 'Site', 'name': obj.spec.site}] : []\", type: t}",
	"{expression: \"obj.spec.gadgets.map(g, {'group': 'GROUP', 'kind': 'Gadget', 'name': g.name, 'namespace': obj.metadata.namespace})\"}",
	"{expression: \"obj.spec.byColour.red.names.map(n, {'group': 'GROUP', 'kind': 'Gadget', 'name': n})\"}",
	// This one costs more than a watch waits for.
	"{expression: \"lists.range(5000).exists(i, i < 0) ? [] : obj.spec.byColour.blue.names.map(n, {'group': 'GROUP', 'kind': 'Gadget', 'name': n})\", type: t}",
}

func randomSpec(r *rand.Rand, namespaces []string) map[string]any {
	name := func() any {
		if r.IntN(8) == 0 {
			return []any{"", int64(3), nil, map[string]any{"name": "a"}}[r.IntN(4)]
		}
		return fmt.Sprint("n", r.IntN(6))
	}
	var gadgets, names []any
	for range r.IntN(4) {
		gadget := map[string]any{"name": name()}
		if r.IntN(2) == 0 {
			gadget["namespace"] = namespaces[r.IntN(len(namespaces))]
		}
		gadgets, names = append(gadgets, gadget), append(names, name())
	}
	spec := map[string]any{"gadgets": gadgets, "byColour": map[string]any{[]string{"red", "blue"}[r.IntN(2)]: map[string]any{"names": names}}}
	if r.IntN(2) == 0 {
		spec["site"] = fmt.Sprint("n", r.IntN(3))
	}
	if r.IntN(3) == 0 {
		spec["elsewhere"] = namespaces[r.IntN(len(namespaces))]
	}
	return spec
}

// TestRulesEqualOracle changes objects and rules at random, and wants what a
// subscriber has to be what the oracle reads from fresh lists by the same rules,
// while nothing is listed or watched again because of them.
func TestRulesEqualOracle(t *testing.T) {
	c := newClient(t)
	namespaces := []string{newNamespace(t, c), newNamespace(t, c)}
	group := ruleKinds(t, c, namespaces[0])
	var requests atomic.Int64
	config := rest.CopyConfig(cluster.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/widgets") {
				requests.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	e := runEngineAs(t, graphview.Options{}, config)
	v := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '" + group + "'"}}},
		Namespaces: &oracle.Namespaces{Names: namespaces},
		Roots:      &oracle.Roots{ObjectSelectorExpressions: []string{"resource == 'widgets' && name < 'n3'", "resource == 'sites'"}},
	}
	// A rule for the group from the beginning: by convention, the oracle knows nothing.
	declared := map[string]oracle.Rule{"always": parseRule(t, group, "always", "[{path: spec.none, to: {kind: Node}}]")}
	sites := parseRule(t, group, "sites", "[{path: spec.site, to: {group: GROUP, kind: Site}}, {path: 'spec.gadgets[].name', to: {group: GROUP, kind: Gadget}}]")
	sites.Spec.From.Kind = "Site"
	declared["sites"] = sites
	for _, r := range declared {
		applyRule(t, e, r)
	}
	random := rand.New(rand.NewPCG(seed.Of(t), 4))
	pick := func() string { return namespaces[random.IntN(2)] }
	for i := range 12 {
		putObject(t, c, group, []string{"Widget", "Gadget", "Site"}[i%3], pick(), fmt.Sprint("n", i/3), randomSpec(random, namespaces))
	}
	ctx, stop := context.WithCancel(t.Context())
	view := mustApply(t, e, "rules", v)
	f := follow(ctx, view)
	if err := view.WaitSynced(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A second watch of the same objects, but for some, and its view.
	part := v
	part.Roots = nil
	part.Queries = []oracle.Query{{Include: &oracle.Include{
		ResourceSelectorExpression: "group == '" + group + "'", Object: oracle.Filter{FieldSelector: "metadata.name!=n5"},
	}}}
	partView := mustApply(t, e, "part", part)
	g := follow(ctx, partView)
	if err := partView.WaitSynced(t.Context()); err != nil {
		t.Fatal(err)
	}
	both := func() {
		t.Helper()
		becomes(t, f, withRules(v, declared))
		becomes(t, g, withRules(part, declared))
	}
	both()
	before := requests.Load()
	for range 12 {
		for range 1 + random.IntN(4) {
			switch name := fmt.Sprint("rule-", random.IntN(3)); random.IntN(5) {
			case 0:
				e.RemoveRule(name)
				delete(declared, name)
			case 1, 2:
				var chosen []string
				for _, i := range random.Perm(len(declarations))[:1+random.IntN(3)] {
					chosen = append(chosen, declarations[i])
				}
				declared[name] = parseRule(t, group, name, "["+strings.Join(chosen, ", ")+"]")
				applyRule(t, e, declared[name])
			default:
				putObject(t, c, group, []string{"Widget", "Widget", "Gadget", "Site"}[random.IntN(4)], pick(), fmt.Sprint("n", random.IntN(6)), randomSpec(random, namespaces))
			}
		}
		both()
	}
	if got := requests.Load(); got != before || before == 0 {
		t.Errorf("%d lists and watches of widgets, were %d before the rules changed", got, before)
	}
	stop()
	<-f.done
	<-g.done
}

func withRules(v oracle.View, declared map[string]oracle.Rule) oracle.View {
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		v.Rules = append(v.Rules, declared[name])
	}
	return v
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRulesAndRights: what a rule leads to is left out for who may not see it, as
// any arc.
func TestRulesAndRights(t *testing.T) {
	t.Parallel()
	f := newRightsFixture(t)
	declared := parseRule(t, "apps", "deployments", `
  - {expression: "['settings', 'nobody'].map(n, {'group': '', 'kind': 'ConfigMap', 'name': n, 'namespace': '`+f.blue+`'})"}
  - {expression: "[{'group': '', 'kind': 'Secret', 'name': 'password'}, {'group': '', 'kind': 'Secret', 'name': 'nobody'}]", type: t}
`)
	declared.Spec.From.Kind = "Deployment"
	applyRule(t, f.engine, declared)
	for name, view := range f.views {
		view.Rules = []oracle.Rule{declared}
		f.views[name] = view
	}
	f.rest(t)
	p := newPerson(t, f.red, "some")
	grant(t, f.client, p, f.red, graphRule("get watch"), rule("list watch", "deployments", "configmaps", "secrets"))
	whole := f.whole(t, "named")
	if got := ruled(whole); len(got) != 8 {
		t.Fatalf("the oracle has %d arcs of the rule, want 8: %v", len(got), got)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	got := followSocket(t, ctx, ownPort(t, f.server, p.token), f.path("watch", "named"))
	eventually(t, soon, func() string { return f.shows(got, "named", whole, newJudge(t, p.token)) })
	// The user may see one Deployment, and its targets in its own namespace.
	got.Look(func(c *oracle.Client) {
		if arcs := ruled(c.Graph()); len(arcs) != 2 {
			t.Errorf("the subscriber has %d arcs of the rule, want 2: %v", len(arcs), arcs)
		}
	})
}

// ruled are the arcs that expressions of rules made.
func ruled(g oracle.Graph) []oracle.ArcKey {
	var arcs []oracle.ArcKey
	for key, a := range g.Arcs {
		if slices.ContainsFunc(a.Fields, func(field string) bool { return strings.HasPrefix(field, "referencerule/") }) {
			arcs = append(arcs, key)
		}
	}
	return arcs
}
