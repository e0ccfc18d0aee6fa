package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// withoutInferred leaves out the arcs that only inferred references make.
func withoutInferred(g oracle.Graph) oracle.Graph {
	declared := oracle.Graph{Vertices: g.Vertices, Arcs: map[oracle.ArcKey]oracle.Attributes{}}
	for key, a := range g.Arcs {
		if len(a.Fields) == 0 || slices.ContainsFunc(a.Fields, func(field string) bool { return !strings.HasPrefix(field, "inferred/") }) {
			declared.Arcs[key] = a
		}
	}
	return declared
}

// TestInferredEqualsOracle follows inferred references of kinds that the table does not list,
// while their targets, and the targets' kinds, are created and deleted. One view has them all;
// another one excludes them, and has a second subscriber with a narrowed graph.
func TestInferredEqualsOracle(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	group := ruleKinds(t, c, namespace)
	v := oracle.View{
		Queries: []oracle.Query{{Include: &oracle.Include{
			ResourceSelectorExpression: "group.endsWith('" + group + "') || resource in ['services', 'secrets', 'pods', 'storageclasses']",
		}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	engine := runEngine(t, graphview.Options{})
	view := mustApply(t, engine, "inferred", v)
	widget := oracle.VertexKey{Group: group, Version: "v1", Resource: "widgets", Namespace: namespace, Name: "a"}
	narrow, err := delivery.ParseNarrowing([]string{rootText(widget)}, "Both", 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	all := follow(ctx, view)
	without := specOf(t, v)
	without.InferredReferences = v1alpha1.ExcludeInferred
	name := graphview.Name{Namespace: "views", Name: "declared"}
	if err := engine.Apply(ctx, name, "uid-declared", without); err != nil {
		t.Fatal(err)
	}
	view, _ = engine.View(name)
	declared := follow(ctx, view)
	part := followSubscription(ctx, subscriber.New(), view.Subscribe(delivery.SubscribeOptions{Narrow: narrow, Owner: budget.UserOwner(&user.DefaultInfo{Name: "ann"})}))
	defer func() {
		stop()
		for _, f := range []*graphFollower{all, declared, part} {
			<-f.done
		}
	}()
	check := func(when string, wantArcs int) {
		t.Helper()
		eventually(t, soon, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			arcs := 0
			for key := range want.Arcs {
				if key.Type != "or" {
					arcs++
				}
			}
			if arcs != wantArcs {
				return fmt.Sprintf("%s: the oracle has %d references, want %d: %v", when, arcs, wantArcs, want.Arcs)
			}
			if diff := all.Differs(want); diff != "" {
				return diff
			}
			want = withoutInferred(want)
			if diff := declared.Differs(want); diff != "" {
				return "without what is inferred: " + diff
			}
			if diff := part.Differs(oracle.Narrow(want, []oracle.VertexKey{widget}, oracle.Follow{Direction: "Both"})); diff != "" {
				return "a part without what is inferred: " + diff
			}
			return ""
		})
	}

	putObject(t, c, group, "Widget", namespace, "a", map[string]any{
		"gadget": "g", "site": "north",
		"caSecret": "ca", "services": []any{map[string]any{"name": "web"}}, "endpoint": "http://web." + namespace + ".svc:80", "queue": "q",
		"tlsCert": "ca", "upstreamRef": map[string]any{"name": "ca"},
	})
	apply(t, c, namespace, `{apiVersion: v1, kind: Pod, metadata: {name: caller}, spec: {containers: [{name: c, image: c, args: ["--web=http://web:80"], env: [{name: WEB, value: "web:80"}, {name: OTHER, value: "https://example.com"}]}]}}`)
	check("nothing that is named exists: the secret of a certificate, and the Service of an address, are missing", 2)

	putObject(t, c, group, "Gadget", namespace, "g", map[string]any{"widget": "a"})
	putObject(t, c, group, "Site", namespace, "north", map[string]any{})
	apply(t, c, namespace, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: ca}}`)
	// gadget, site, widget, caSecret, services, endpoint, and env with args.
	check("all of it exists", 7)

	// A kind that comes to be served, with an object of the name.
	queue := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "queues.other." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "other." + group, Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "queues", Kind: "Queue"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{crdVersion("v1", true)},
		},
	}
	create(t, c, queue)
	putObject(t, c, "other."+group, "Queue", namespace, "q", map[string]any{})
	check("a kind came", 8)

	for _, o := range []client.Object{
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}},
		queue,
	} {
		remove(t, c, o)
	}
	// services, env and queue have gone. The address dangles.
	check("the Service and the kind went", 5)

	// References from the schema of a kind, while the schema changes.
	putObject(t, c, group, "Widget", namespace, "b", map[string]any{
		"site": "north", "bucket": map[string]any{"name": "ca", "key": "a"},
	})
	check("keys tell the site, and nothing of the bucket", 6)
	describe := func(spec map[string]apiextensionsv1.JSONSchemaProps) {
		t.Helper()
		widgets := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group}}
		eventually(t, soon, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(widgets), widgets); err != nil {
				return err.Error()
			}
			of := widgets.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			of.Properties = spec
			widgets.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = of
			if err := c.Update(t.Context(), widgets); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	bucket := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": text, "key": text}}
	describe(map[string]apiextensionsv1.JSONSchemaProps{"bucket": bucket})
	check("the bucket selects a key", 7)
	describe(map[string]apiextensionsv1.JSONSchemaProps{
		"bucket": bucket, "site": {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"north"`)}}},
	})
	// The sites of both Widgets have gone.
	check("the site is one of an enum", 5)

	rule := parseRule(t, group, "widgets", "[{path: spec.gadget, to: {group: GROUP, kind: Gadget}, type: t}]")
	rule.Spec.Conventions = "Keep"
	applyRule(t, engine, rule)
	v.Rules = []oracle.Rule{rule}
	check("a rule beside what keys tell of Widgets", 5)
	rule.Spec.Conventions = "Replace"
	applyRule(t, engine, rule)
	v.Rules = []oracle.Rule{rule}
	// gadget, bucket, and the widget of a Gadget.
	check("a rule replaces what keys tell of Widgets", 3)
}
