package resources

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// query is what a Match is made of in tests: the first that matches decides.
type query struct {
	include bool
	matches func(Resource) bool
}

func firstOf(queries ...query) Match {
	return func(r Resource) (int, bool, bool, error) {
		for i, q := range queries {
			if q.matches(r) {
				return i, q.include, true, nil
			}
		}
		return 0, false, false, nil
	}
}

func all(Resource) bool { return true }

func group(name string) func(Resource) bool {
	return func(r Resource) bool { return r.Group == name }
}

func resource(name string) func(Resource) bool {
	return func(r Resource) bool { return r.Resource == name }
}

func versioned(group, resource string, versions ...string) []Resource {
	var out []Resource
	for _, v := range versions {
		out = append(out, Resource{Group: group, Version: v, Resource: resource, Kind: "K"})
	}
	return out
}

func concat(lists ...[]Resource) []Resource {
	var out []Resource
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func TestSelect(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		resources []Resource
		match     Match
		want      []string // resource and query
	}{
		"NothingMatches": {
			resources: versioned("apps", "deployments", "v1"),
			match:     firstOf(),
		},
		"SortedByGroupAndResource": {
			resources: concat(versioned("b", "a", "v1"), versioned("a", "z", "v1"), versioned("", "pods", "v1"), versioned("a", "b", "v1")),
			match:     firstOf(query{true, all}),
			want:      []string{"v1/pods 0", "a/v1/b 0", "a/v1/z 0", "b/v1/a 0"},
		},
		"FirstMatchWins": {
			resources: concat(versioned("apps", "controllerrevisions", "v1"), versioned("apps", "deployments", "v1"), versioned("", "pods", "v1")),
			match:     firstOf(query{false, resource("controllerrevisions")}, query{true, group("apps")}, query{true, all}),
			want:      []string{"v1/pods 2", "apps/v1/deployments 1"},
		},
		"AnExclusionThatComesLateDoesNotCount": {
			resources: versioned("apps", "deployments", "v1"),
			match:     firstOf(query{true, all}, query{false, all}),
			want:      []string{"apps/v1/deployments 0"},
		},
		"NewestStable": {
			resources: versioned("g", "r", "v1", "v2", "v10", "v11beta1"),
			match:     firstOf(query{true, all}),
			want:      []string{"g/v10/r 0"},
		},
		"NewestUnstableWhereNoneIsStable": {
			resources: versioned("g", "r", "v1alpha1", "v1beta2", "v1beta10"),
			match:     firstOf(query{true, all}),
			want:      []string{"g/v1beta10/r 0"},
		},
		"OnlyIncludedVersionsCompete": {
			resources: versioned("g", "r", "v1", "v2", "v3beta1"),
			match:     firstOf(query{false, func(r Resource) bool { return r.Version == "v2" }}, query{true, all}),
			want:      []string{"g/v1/r 1"},
		},
		"TheQueryOfTheWatchedVersionCounts": {
			resources: versioned("g", "r", "v1", "v2"),
			match:     firstOf(query{true, func(r Resource) bool { return r.Version == "v2" }}, query{true, all}),
			want:      []string{"g/v2/r 0"},
		},
		"VersionsOfEachResourceOnTheirOwn": {
			resources: concat(versioned("g", "a", "v1", "v2"), versioned("g", "b", "v1"), versioned("h", "a", "v1")),
			match:     firstOf(query{true, all}),
			want:      []string{"g/v2/a 0", "g/v1/b 0", "h/v1/a 0"},
		},
		"ExtensionsNever": {
			resources: concat(versioned("extensions", "ingresses", "v1beta1"), versioned("events.k8s.io", "events", "v1"),
				versioned("stream.graphview.dev", "graphs", "v1alpha1"), versioned("", "events", "v1")),
			match: firstOf(query{true, all}),
			want:  []string{"v1/events 0"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selected, errs := Select(NewCatalog(tt.resources, nil), tt.match)
			if len(errs) > 0 {
				t.Fatalf("errors: %v", errs)
			}
			var got []string
			for _, s := range selected {
				got = append(got, fmt.Sprintf("%s %d", s.Resource, s.Query))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such key")
	failing := func(bad func(Resource) bool) Match {
		return func(r Resource) (int, bool, bool, error) {
			if bad(r) {
				return 0, false, false, broken
			}
			return 0, true, true, nil
		}
	}

	t.Run("OneVersionLeavesTheOthers", func(t *testing.T) {
		t.Parallel()
		selected, errs := Select(NewCatalog(versioned("g", "r", "v1", "v2"), nil),
			failing(func(r Resource) bool { return r.Version == "v2" }))
		want := []Selected{{Resource: versioned("g", "r", "v1")[0]}}
		if diff := cmp.Diff(want, selected); diff != "" {
			t.Errorf("selected (-want +got):\n%s", diff)
		}
		if len(errs) != 1 || !errors.Is(errs[0], broken) || errs[0].Error() != "g/v2/r: no such key" {
			t.Errorf("errors = %v, want one about g/v2/r", errs)
		}
	})

	t.Run("Bounded", func(t *testing.T) {
		t.Parallel()
		var many []Resource
		for i := range 15 {
			many = append(many, versioned("g", fmt.Sprintf("r%02d", i), "v1")...)
		}
		selected, errs := Select(NewCatalog(many, nil), failing(all))
		if len(selected) != 0 || len(errs) != 11 || errs[10].Error() != "and 5 more resources" {
			t.Errorf("selected %v, errors %v; want ten errors and one that counts 5", selected, errs)
		}
	})
}
