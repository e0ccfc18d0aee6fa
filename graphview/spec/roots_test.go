package spec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/expr"
	"graphview.dev/test/seed"
)

func compiledRoots(t *testing.T, r *v1alpha1.Roots) (*Program, error) {
	t.Helper()
	return Compile(t.Context(), nil, v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}}, Roots: r})
}

// rootInput is an object that may be a root.
func rootInput(group, kind, namespace, name string, set map[string]string) *expr.Input {
	all := make(map[string]any, len(set))
	for k, v := range set {
		all[k] = v
	}
	return &expr.Input{Group: group, Kind: kind, Namespace: namespace, Name: name, Object: func() (map[string]any, error) {
		return map[string]any{"metadata": map[string]any{"labels": all}}, nil
	}}
}

func TestRootObjects(t *testing.T) {
	core, apps := "", "apps"
	release := func(name, status string) map[string]string {
		return map[string]string{"owner": "helm", "name": name, "status": status, "version": "1"}
	}
	web := rootInput("apps", "Deployment", "shop", "web", map[string]string{"app": "web"})
	for name, tt := range map[string]struct {
		object     v1alpha1.RootObject
		want, none []*expr.Input
		what       string
	}{
		"a kind": {
			object: v1alpha1.RootObject{Kind: "Deployment"}, want: []*expr.Input{web},
			none: []*expr.Input{rootInput("apps", "StatefulSet", "shop", "web", nil)}, what: "Deployment",
		},
		"a name": {
			object: v1alpha1.RootObject{Kind: "Deployment", Name: "web", Namespace: "shop"}, want: []*expr.Input{web},
			none: []*expr.Input{rootInput("apps", "Deployment", "shop", "api", nil), rootInput("apps", "Deployment", "prod", "web", nil)},
			what: "Deployment that is named 'web' in namespace 'shop'",
		},
		"a group": {
			object: v1alpha1.RootObject{Group: &apps, Kind: "Deployment"}, want: []*expr.Input{web},
			none: []*expr.Input{rootInput("example.com", "Deployment", "shop", "web", nil)}, what: "Deployment",
		},
		"the core group": {
			object: v1alpha1.RootObject{Group: &core, Kind: "Service"}, want: []*expr.Input{rootInput("", "Service", "shop", "web", nil)},
			none: []*expr.Input{rootInput("serving.knative.dev", "Service", "shop", "web", nil)}, what: "Service",
		},
		"a name that few kinds have": {
			object: v1alpha1.RootObject{Kind: "ClusterRole", Name: `system:"node`}, want: []*expr.Input{rootInput("rbac.authorization.k8s.io", "ClusterRole", "", `system:"node`, nil)},
			what: `ClusterRole that is named 'system:\"node'`,
		},
		"labels": {
			object: v1alpha1.RootObject{LabelSelector: "app=web,!legacy"}, want: []*expr.Input{web},
			none: []*expr.Input{rootInput("", "Pod", "shop", "p", nil), rootInput("", "Pod", "shop", "p", map[string]string{"app": "web", "legacy": ""})},
			what: "object with these labels",
		},
		"a release of Helm": {
			object: v1alpha1.RootObject{HelmRelease: "pay", Namespace: "shop"},
			want: []*expr.Input{
				rootInput("", "Secret", "shop", "sh.helm.release.v1.pay.v1", release("pay", "deployed")),
				rootInput("", "ConfigMap", "shop", "sh.helm.release.v1.pay.v1", release("pay", "deployed")),
				rootInput("", "Secret", "shop", "sh.helm.release.v1.pay.v2", release("pay", "pending-upgrade")),
				rootInput("", "Secret", "shop", "sh.helm.release.v1.pay.v2", release("pay", "pending-rollback")),
				rootInput("", "Secret", "shop", "sh.helm.release.v1.pay.v2", release("pay", "pending-install")),
			},
			none: []*expr.Input{
				rootInput("", "Secret", "shop", "sh.helm.release.v1.pay.v1", release("pay", "superseded")),
				rootInput("", "Secret", "shop", "sh.helm.release.v1.pay.v1", release("pay", "failed")),
				rootInput("", "Secret", "shop", "sh.helm.release.v1.web.v1", release("web", "deployed")),
				rootInput("", "Secret", "prod", "sh.helm.release.v1.pay.v1", release("pay", "deployed")),
				rootInput("", "Secret", "shop", "pay-db", nil),
				rootInput("helm.toolkit.fluxcd.io", "HelmRelease", "shop", "pay", nil),
			},
			what: "deployed or pending release of Helm that is named 'pay' in namespace 'shop'",
		},
		"an Application": {
			object: v1alpha1.RootObject{ArgoApplication: "orders"}, want: []*expr.Input{rootInput("argoproj.io", "Application", "argocd", "orders", nil)},
			none: []*expr.Input{rootInput("app.k8s.io", "Application", "argocd", "orders", nil)}, what: "Application of Argo CD that is named 'orders'",
		},
		"a Kustomization": {
			object: v1alpha1.RootObject{FluxKustomization: "apps"}, want: []*expr.Input{rootInput("kustomize.toolkit.fluxcd.io", "Kustomization", "flux-system", "apps", nil)},
			what: "Kustomization of Flux that is named 'apps'",
		},
		"a HelmRelease": {
			object: v1alpha1.RootObject{FluxHelmRelease: "pay"}, want: []*expr.Input{rootInput("helm.toolkit.fluxcd.io", "HelmRelease", "flux-system", "pay", nil)},
			what: "HelmRelease of Flux that is named 'pay'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := compiledRoots(t, &v1alpha1.Roots{Objects: []v1alpha1.RootObject{tt.object}})
			if err != nil {
				t.Fatal(err)
			}
			root := p.Roots[0]
			if root.Path != "spec.roots.objects[0]" || root.Description != tt.what {
				t.Errorf("%s: %q, want %q", root.Path, root.Description, tt.what)
			}
			for i, in := range append(tt.want, tt.none...) {
				if is, err := root.Matches(t.Context(), in); err != nil || is != (i < len(tt.want)) {
					t.Errorf("%s of %s/%s is a root: %t, %v: %s", in.Kind, in.Namespace, in.Name, is, err, root.Expression)
				}
			}
		})
	}
}

func TestRootObjectsRefused(t *testing.T) {
	bad, many := "apps/v1", make([]v1alpha1.RootObject, maxRoots+1)
	for i := range many {
		many[i] = v1alpha1.RootObject{Kind: "Pod"}
	}
	ways := "spec.roots.objects[0]: must say in exactly one way what the object is"
	for name, tt := range map[string]struct {
		objects []v1alpha1.RootObject
		want    string
	}{
		"nothing":          {[]v1alpha1.RootObject{{}}, ways},
		"a namespace":      {[]v1alpha1.RootObject{{Namespace: "shop"}}, ways},
		"two ways":         {[]v1alpha1.RootObject{{Kind: "Pod", HelmRelease: "pay"}}, ways},
		"two tools":        {[]v1alpha1.RootObject{{ArgoApplication: "a", FluxHelmRelease: "b"}}, ways},
		"no kind":          {[]v1alpha1.RootObject{{Name: "web", LabelSelector: "a=b"}}, "spec.roots.objects[0]: has group or name without a kind"},
		"a group alone":    {[]v1alpha1.RootObject{{Group: &bad, LabelSelector: "a"}}, `spec.roots.objects[0].group: 'apps/v1' is not a name`},
		"name and labels":  {[]v1alpha1.RootObject{{Kind: "Pod", Name: "a", LabelSelector: "a=b"}}, "spec.roots.objects[0]: has name and labelSelector, which exclude each other"},
		"no kind's name":   {[]v1alpha1.RootObject{{Kind: "apps/Deployment"}}, "spec.roots.objects[0].kind: 'apps/Deployment' is not a kind"},
		"no name":          {[]v1alpha1.RootObject{{Kind: "Pod", Name: "a/b"}}, "spec.roots.objects[0].name: 'a/b' is not the name of an object"},
		"a pattern":        {[]v1alpha1.RootObject{{Kind: "Pod"}, {HelmRelease: "pay-*"}}, "spec.roots.objects[1].helmRelease: 'pay-*' is not a name"},
		"a long release":   {[]v1alpha1.RootObject{{HelmRelease: v1alpha1.ReleaseName(strings.Repeat("a", 54))}}, "spec.roots.objects[0].helmRelease: must have at most 53 characters"},
		"quotes":           {[]v1alpha1.RootObject{{ArgoApplication: `a" || true || "`}}, "spec.roots.objects[0].argoApplication: "},
		"no namespace":     {[]v1alpha1.RootObject{{Kind: "Pod", Namespace: "a.b"}}, `spec.roots.objects[0].namespace: "a.b" is not the name of a namespace`},
		"no selector":      {[]v1alpha1.RootObject{{LabelSelector: "app=="}, {LabelSelector: "a b"}}, "spec.roots.objects[1].labelSelector: "},
		"every label":      {[]v1alpha1.RootObject{{LabelSelector: " "}}, "spec.roots.objects[0].labelSelector: selects everything"},
		"a long selector":  {[]v1alpha1.RootObject{{LabelSelector: strings.Repeat("a", maxRootSelector+1)}}, "spec.roots.objects[0].labelSelector: must have at most 1024 characters"},
		"many labels":      {[]v1alpha1.RootObject{{LabelSelector: strings.Repeat("a!=b,", 33) + "c"}}, "spec.roots.objects[0].labelSelector: must have at most 32 requirements, has 34"},
		"too many objects": {many, "spec.roots.objects: must have at most 64 objects, has 65"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := compiledRoots(t, &v1alpha1.Roots{Objects: tt.objects})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRootLabelsDifferential: a root's label selector means what it does to the API
// server, whose code judges the same labels here.
func TestRootLabelsDifferential(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 15))
	keys, values := []string{"a", "b.c/d", "e-f"}, []string{"", "x", "y-z", "5", "12", "007", "999999999999999999999"}
	requirements := []func(key, value, other string) string{
		func(k, v, _ string) string { return k + "=" + v },
		func(k, v, _ string) string { return k + "==" + v },
		func(k, v, _ string) string { return k + "!=" + v },
		func(k, v, o string) string { return fmt.Sprintf("%s in (%s, %s)", k, v, o) },
		func(k, v, o string) string { return fmt.Sprintf("%s notin (%s,%s)", k, v, o) },
		func(k, _, _ string) string { return k },
		func(k, _, _ string) string { return "!" + k },
		func(k, _, _ string) string { return k + ">7" },
		func(k, _, _ string) string { return k + "<7" },
	}
	some := func(of []string) string { return of[r.IntN(len(of))] }
	matched := 0
	for range 300 {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, requirements[r.IntN(len(requirements))](some(keys), some(values), some(values)))
		}
		text := strings.Join(parts, ",")
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		p, err := compiledRoots(t, &v1alpha1.Roots{Objects: []v1alpha1.RootObject{{LabelSelector: text}}})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			set := labels.Set{}
			for _, key := range keys {
				if r.IntN(2) > 0 {
					set[key] = some(values)
				}
			}
			want := selector.Matches(set)
			got, err := p.Roots[0].Matches(t.Context(), rootInput("", "Pod", "shop", "p", set))
			if err != nil || got != want {
				t.Fatalf("%s of %v: %t, %v, want %t: %s", text, set, got, err, want, p.Roots[0].Expression)
			}
			if want {
				matched++
			}
		}
	}
	if matched == 0 {
		t.Error("nothing matched")
	}
}

// TestRootObjectAtItsBounds: whatever the bounds admit is an expression within those of
// expressions.
func TestRootObjectAtItsBounds(t *testing.T) {
	group := strings.Repeat("a", 63) + strings.Repeat("."+strings.Repeat("a", 62), 3)
	name := strings.Repeat("\U0001F600", 63)
	for _, o := range []v1alpha1.RootObject{
		{Group: &group, Kind: strings.Repeat("K", 63), Namespace: v1alpha1.NamespaceName(strings.Repeat("n", 63)), Name: name},
		{Kind: strings.Repeat("K", 63), LabelSelector: strings.TrimSuffix(strings.Repeat(strings.Repeat("k", 28)+">1,", 32), ",")},
		{LabelSelector: "k notin (" + strings.TrimSuffix(strings.Repeat("a,", 500), ",") + ")"},
	} {
		if _, err := compiledRoots(t, &v1alpha1.Roots{Objects: []v1alpha1.RootObject{o}}); err != nil {
			t.Error(err)
		}
	}
}
