package advice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/resources"
)

func TestSuggestKinds(t *testing.T) {
	served := []resources.Resource{
		{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true},
		{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true},
		{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts", Kind: "BareMetalHost", Namespaced: true},
	}
	for name, test := range map[string]struct {
		named []NamedKind
		want  []string
	}{
		"Served":       {named: []NamedKind{{"a", "", "Secret"}, {"b", "apps", "Deployment"}}},
		"Core":         {named: []NamedKind{{"a", "core", "Secret"}}, want: []string{"a: no API serves the kind 'Secret' of group 'core'; leave group out, or empty, for Kubernetes' core"}},
		"OtherGroup":   {named: []NamedKind{{"a", "", "Deployment"}}, want: []string{"a: no API serves the kind 'Deployment' of Kubernetes' core; it is of 'apps'"}},
		"Plural":       {named: []NamedKind{{"a", "metal3.io", "BareMetalHosts"}}, want: []string{"a: no API serves the kind 'BareMetalHosts' of group 'metal3.io'; did you mean 'BareMetalHost'?"}},
		"Misspelt":     {named: []NamedKind{{"a", "metal3.io", "BareMettalHost"}}, want: []string{"a: no API serves the kind 'BareMettalHost' of group 'metal3.io'; did you mean 'BareMetalHost'?"}},
		"NotInstalled": {named: []NamedKind{{"a", "example.com", "Widget"}}, want: []string{"a: no API serves the kind 'Widget' of group 'example.com'"}},
		"Once":         {named: []NamedKind{{"a", "example.com", "Widget"}, {"b", "example.com", "Widget"}}, want: []string{"a: no API serves the kind 'Widget' of group 'example.com'"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range OfKinds(test.named, served) {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
