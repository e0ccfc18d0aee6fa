package plan

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// TestOtherRootsAreOtherNeeds: a view with other roots needs its watches for something else,
// also where an expression has in a comment what another list would have between two.
func TestOtherRootsAreOtherNeeds(t *testing.T) {
	needs := func(expressions ...v1alpha1.Expression) map[Need]bool {
		t.Helper()
		program, err := spec.Compile(t.Context(), nil, v1alpha1.GraphViewSpec{
			Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}},
			Roots:   &v1alpha1.Roots{ObjectSelectorExpressions: expressions},
		})
		if err != nil {
			t.Fatal(err)
		}
		return outlineOf(situation{program: program, selected: []resources.Selected{{Resource: podsResource}}}).Needed
	}
	const a, b = "name == 'a' // ", "name == 'b'"
	if !maps.Equal(needs(a, b), needs(a, b)) {
		t.Error("equal roots are different needs")
	}
	for name, other := range map[string][]v1alpha1.Expression{
		"one expression less":    {a},
		"one after a zero":       {a + "\x00" + b},
		"one after a quote":      {a + `""` + b},
		"in another order":       {b, a},
		"with a zero at the end": {a, b + "//\x00"},
	} {
		if maps.Equal(needs(a, b), needs(other...)) {
			t.Errorf("%s: the needs are equal", name)
		}
	}
}

func TestNeedOfReleases(t *testing.T) {
	secrets := resources.Resource{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	for name, test := range map[string]struct {
		resource       resources.Resource
		labels, fields string
		want           string // of the key, "" for none
	}{
		"Secrets":    {resource: secrets, want: "secrets namespace shop labels " + helm.NotEnded + " fields type=helm.sh/release.v1 reduced"},
		"Labelled":   {resource: secrets, labels: "a=b", want: "secrets namespace shop labels a=b," + helm.NotEnded + " fields type=helm.sh/release.v1 reduced"},
		"Named":      {resource: secrets, fields: "metadata.name=a", want: "secrets namespace shop labels " + helm.NotEnded + " fields metadata.name=a,type=helm.sh/release.v1 reduced"},
		"OfHelm":     {resource: secrets, fields: "type=helm.sh/release.v1", want: "secrets namespace shop labels " + helm.NotEnded + " fields type=helm.sh/release.v1,type=helm.sh/release.v1 reduced"},
		"Opaque":     {resource: secrets, fields: "type=Opaque"},
		"NotOfHelm":  {resource: secrets, fields: "metadata.name=a,type!=helm.sh/release.v1"},
		"NotOpaque":  {resource: secrets, fields: "type!=Opaque", want: "secrets namespace shop labels " + helm.NotEnded + " fields type!=Opaque,type=helm.sh/release.v1 reduced"},
		"ConfigMaps": {resource: resources.Resource{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}},
		"OtherGroup": {resource: resources.Resource{Group: "example.com", Version: "v1", Resource: "secrets", Kind: "Secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := Need{Resource: test.resource, Key: watch.Key{
				Resource:  schema.GroupVersionResource{Group: test.resource.Group, Version: test.resource.Version, Resource: test.resource.Resource},
				Namespace: "shop", LabelSelector: test.labels, FieldSelector: test.fields,
			}}
			also, ok := n.releases()
			if got := also.Key.String(); ok != (test.want != "") || ok && got != test.want {
				t.Errorf("got %q %t, want %q", got, ok, test.want)
			}
		})
	}
}
