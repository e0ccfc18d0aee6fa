package manifest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/resources"
)

// TestObjects: against the objects of a cluster, names and labels that none of them has are named,
// and a ServiceAccount that does not exist is a problem. All findings are added up.
func TestObjects(t *testing.T) {
	served := resources.NewCatalog([]resources.Resource{
		{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true},
		{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true},
	}, nil)
	objects := map[string][]Object{
		"deployments":     {{Name: "env", Labels: map[string]string{"app": "env"}}},
		"serviceaccounts": {{Name: "viewer"}, {Name: "default"}},
	}
	cluster := func(unknown string) *Cluster {
		return &Cluster{
			Served: served, Namespaces: []string{"b"}, Namespace: "b",
			Objects: func(_ context.Context, r resources.Resource, namespace string) ([]Object, bool) {
				if namespace != "b" {
					t.Errorf("namespace %q is looked at", namespace)
				}
				return objects[r.Resource], r.Resource != unknown
			},
		}
	}
	const queries = "  queries:\n  - include: {resourceSelectorExpression: \"resource == 'deployments'\"}\n  namespaces: {names: [b]}\n"
	for name, test := range map[string]struct {
		spec       string
		unknown    string
		required   bool
		want, bugs []string
	}{
		"right": {spec: "spec:\n  serviceAccountName: viewer\n" + queries + "  roots: {objects: [{kind: Deployment, name: env}]}\n"},
		"a misspelt root": {
			spec: "spec:\n" + queries + "  roots: {objects: [{kind: Deployment, name: evn}]}\n",
			want: []string{"f:8: GraphView b/a: spec.roots.objects[0]: no selected object has the name 'evn'; did you mean 'env'?"},
		},
		"a misspelt label of a root": {
			spec: "spec:\n" + queries + "  roots: {objectSelectorExpressions: [\"labels.ap == 'env' || labels['app'] == 'x'\"]}\n",
			want: []string{"f:8: GraphView b/a: spec.roots.objectSelectorExpressions[0]: no selected object has the label 'ap'; did you mean 'app'?"},
		},
		"a misspelt label of a query": {
			spec: "spec:\n  queries:\n  - include: {resourceSelectorExpression: \"resource == 'deployments'\", object: {labelSelector: ap=env}}\n  namespaces: {names: [b]}\n",
			want: []string{"f:6: GraphView b/a: spec.queries[0].include.object.labelSelector: no selected object has the label 'ap'; did you mean 'app'?"},
		},
		"objects that may not be listed": {spec: "spec:\n" + queries + "  roots: {objects: [{kind: Deployment, name: evn}]}\n", unknown: "deployments"},
		"a misspelt ServiceAccount": {
			spec: "spec:\n  serviceAccountName: veiwer\n" + queries,
			bugs: []string{`f:5: GraphView b/a: spec.serviceAccountName: there is no ServiceAccount "veiwer" in namespace "b"; did you mean 'viewer'?`},
		},
		"several findings at once": {
			spec: "spec:\n" + queries + "  roots: {objects: [{kind: Deployment, name: evn}]}\n", required: true,
			want: []string{"f:8: GraphView b/a: spec.roots.objects[0]: no selected object has the name 'evn'; did you mean 'env'?"},
			bugs: []string{"spec.serviceAccountName"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			checker, err := New(Options{Cluster: cluster(test.unknown), RequireServiceAccount: test.required})
			if err != nil {
				t.Fatal(err)
			}
			r := checker.Check(t.Context(), "f", []byte(head+test.spec))
			var advice, bugs []string
			for _, a := range r.Advice {
				advice = append(advice, a.String())
			}
			for _, p := range r.Problems {
				if test.required {
					bugs = append(bugs, p.Field)
				} else {
					bugs = append(bugs, p.String())
				}
			}
			if diff := cmp.Diff(test.want, advice) + cmp.Diff(test.bugs, bugs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestListsOnce: a Checker lists the same objects only once, however many GraphViews name them, and
// lists no objects for a spec that mentions none.
func TestListsOnce(t *testing.T) {
	listed := map[string]int{}
	checker, err := New(Options{Cluster: &Cluster{
		Served:    resources.NewCatalog([]resources.Resource{{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}}, nil),
		Namespace: "b",
		Objects: func(_ context.Context, r resources.Resource, namespace string) ([]Object, bool) {
			listed[r.Resource+" "+namespace]++
			return []Object{{Name: "viewer"}}, true
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const spec = head + "spec:\n  serviceAccountName: viewer\n  queries: [{include: {resourceSelectorExpression: \"true\"}}]\n"
	for _, test := range []struct {
		text string
		want map[string]int
	}{
		{spec, map[string]int{"serviceaccounts b": 1}},
		{spec + "  roots: {objects: [{kind: Deployment, name: viewer}]}\n", map[string]int{"serviceaccounts b": 1, "deployments ": 1}},
		{spec + "  roots: {objects: [{kind: Deployment, name: other}]}\n", map[string]int{"serviceaccounts b": 1, "deployments ": 1}},
	} {
		if r := checker.Check(t.Context(), "f", []byte(test.text)); len(r.Problems) > 0 {
			t.Fatal(r.Problems)
		}
		if diff := cmp.Diff(test.want, listed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}
