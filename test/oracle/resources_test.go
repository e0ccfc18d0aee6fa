package oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func served(group, version, name string) resource {
	return resource{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: version, Resource: name}, namespaced: true}
}

func include(text string) Query { return Query{Include: &Include{ResourceSelectorExpression: text}} }
func exclude(text string) Query { return Query{Exclude: &Exclude{ResourceSelectorExpression: text}} }

func TestChoose(t *testing.T) {
	all := []resource{
		served("", "v1", "pods"), served("apps", "v1", "deployments"), served("apps", "v1beta10", "deployments"),
		served("x.com", "v1", "as"), served("x.com", "v2", "as"), served("x.com", "v10", "as"), served("x.com", "v11alpha1", "as"),
		served("x.com", "v1alpha1", "bs"), served("x.com", "v1beta2", "bs"), served("x.com", "v1beta10", "bs"),
	}
	tests := map[string]struct {
		queries []Query
		want    []string
	}{
		"newest stable, else newest unstable, by natural order": {
			queries: []Query{include("true")},
			want:    []string{"/v1 pods", "apps/v1 deployments", "x.com/v10 as", "x.com/v1beta10 bs"},
		},
		"the first match wins": {
			queries: []Query{exclude("resource == 'pods'"), include("group in ['', 'apps']")},
			want:    []string{"apps/v1 deployments"},
		},
		"each version is matched on its own": {
			queries: []Query{exclude("version == 'v10'"), include("group == 'x.com' && resource == 'as'")},
			want:    []string{"x.com/v2 as"},
		},
		"nothing matches": {queries: []Query{include("!namespaced")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			chosen, err := choose(all, test.queries)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range chosen {
				got = append(got, r.Group+"/"+r.Version+" "+r.Resource)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := choose(all, []Query{include("group ==")}); err == nil {
		t.Error("an expression that does not compile is no error")
	}
}
