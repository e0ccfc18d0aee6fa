package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// TestOutlineOfOwnRights: a process that watches with its own rights watches what these permit, and
// nothing wider.
func TestOutlineOfOwnRights(t *testing.T) {
	namespaces := func(may bool) map[access.Place]bool {
		return map[access.Place]bool{{Resource: "namespaces"}: may}
	}
	merge := func(all ...map[access.Place]bool) map[access.Place]bool {
		out := make(map[access.Place]bool)
		for _, one := range all {
			maps.Copy(out, one)
		}
		return out
	}
	refused := map[resources.Resource]bool{podsResource: true}
	tests := map[string]struct {
		named     []string
		resource  resources.Resource // zero: pods
		situation situation

		want       []string // namespaces of the watches
		wantPlaces []access.Place
		wantList   bool   // Namespaces are watched
		wantDenied string // text of the messages
		wantOpen   bool
	}{
		"a named namespace": {
			named: []string{"a"}, situation: situation{answers: answersFor(true, "a")},
			want: []string{"a"}, wantPlaces: []access.Place{{Resource: "pods", Namespace: "a"}},
		},
		"one of two named namespaces": {
			named: []string{"a", "b"}, situation: situation{answers: merge(answersFor(true, "a"), answersFor(false, "b"))},
			want: []string{"a"}, wantPlaces: []access.Place{{Resource: "pods", Namespace: "a"}, {Resource: "pods", Namespace: "b"}},
			wantDenied: "you may not list and watch it in b",
		},
		"more named namespaces than views of an operator watch one by one": {
			named: numbered(40), situation: situation{answers: answersFor(true, numbered(40)...)},
			want: numbered(40), wantPlaces: placesOf(numbered(40)),
		},
		"a watch that others share": {
			named: []string{"a"}, situation: situation{answers: answersFor(true, "a"), shared: sharedPods()},
			want: []string{"a"}, wantPlaces: placesOf([]string{"a"}),
		},
		"a watch that was refused": {
			named: []string{"a"}, situation: situation{answers: answersFor(true, "a"), refused: refused},
			want: []string{"a"}, wantPlaces: placesOf([]string{"a"}),
		},
		"all namespaces": {
			situation: situation{answers: merge(answersFor(true, ""), namespaces(true))},
			want:      []string{""}, wantPlaces: []access.Place{{Resource: "namespaces"}, {Resource: "pods"}},
		},
		"all namespaces, a watch that was refused": {
			situation: situation{answers: merge(answersFor(true, ""), namespaces(true)), refused: refused},
			want:      []string{""}, wantPlaces: []access.Place{{Resource: "namespaces"}, {Resource: "pods"}},
		},
		"all namespaces, rights in some": {
			situation: situation{answers: merge(answersFor(false, "", "b"), answersFor(true, "a"), namespaces(true)), namespaces: setOf("a", "b"), complete: true},
			want:      []string{"a"}, wantPlaces: []access.Place{{Resource: "namespaces"}, {Resource: "pods"}, {Resource: "pods", Namespace: "a"}, {Resource: "pods", Namespace: "b"}},
			wantList: true, wantDenied: "you may not list and watch it in all namespaces",
		},
		"all namespaces, which may not be listed": {
			situation: situation{answers: merge(answersFor(false, ""), namespaces(false))},
			// Of pods nothing is known, since the namespaces are not.
			wantPlaces: []access.Place{{Resource: "namespaces"}, {Resource: "pods"}}, wantDenied: "you may not list and watch it",
		},
		"all namespaces, which need not be listed": {
			situation: situation{answers: merge(answersFor(true, ""), namespaces(false))},
			want:      []string{""}, wantPlaces: []access.Place{{Resource: "namespaces"}, {Resource: "pods"}},
		},
		"a cluster-scoped resource": {
			named: []string{"a"}, resource: nodesResource, situation: situation{answers: map[access.Place]bool{{Resource: "nodes"}: true}},
			want: []string{""}, wantPlaces: []access.Place{{Resource: "nodes"}},
		},
		"a cluster-scoped resource without the right": {
			named: []string{"a"}, resource: nodesResource, situation: situation{answers: map[access.Place]bool{{Resource: "nodes"}: false}},
			wantPlaces: []access.Place{{Resource: "nodes"}}, wantDenied: "you may not list and watch it",
		},
		"the namespaces themselves": {
			resource: resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}, situation: situation{answers: namespaces(true)},
			want: []string{""}, wantPlaces: []access.Place{{Resource: "namespaces"}},
		},
		"not known yet": {named: []string{"a"}, wantPlaces: placesOf([]string{"a"}), wantOpen: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			declared := v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}}}
			if tt.named != nil {
				declared.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(tt.named...)}
			}
			program, err := spec.Compile(t.Context(), nil, declared)
			if err != nil {
				t.Fatal(err)
			}
			s := tt.situation
			s.program, s.who = program, "you"
			if tt.resource == (resources.Resource{}) {
				tt.resource = podsResource
			}
			s.selected = []resources.Selected{{Resource: tt.resource}}
			situation := s.claimed()
			situation.Own = true
			claims := claimsOf(situation)
			if len(claims.demands) > 0 {
				t.Errorf("demands of shared watches: %v", claims.demands)
			}
			if diff := cmp.Diff(tt.wantPlaces, claims.places); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			o := claims.outline(s.shared)
			var got []string
			lists := false
			for n := range o.Needed {
				if n.OfNamespaces() {
					lists = n.Key.Resource.Resource == "namespaces"
					continue
				}
				got = append(got, n.Key.Namespace)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("watches in %q, want %q", got, tt.want)
			}
			if lists != tt.wantList {
				t.Errorf("Namespaces are watched: %t", lists)
			}
			if o.Open() != tt.wantOpen {
				t.Errorf("open: %t", o.Open())
			}
			if len(o.Standby) > 0 {
				t.Errorf("probes: %v", o.Standby)
			}
			var denied []string
			for i := range o.Without {
				denied = append(denied, o.Without[i].Message())
			}
			if got := strings.Join(denied, "; "); got != tt.wantDenied {
				t.Errorf("denied: %q, want %q", got, tt.wantDenied)
			}
		})
	}
}

// TestOwnReleases: the releases of Helm are watched where Secrets may be.
func TestOwnReleases(t *testing.T) {
	secrets := resources.Resource{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	program, err := spec.Compile(t.Context(), nil, v1alpha1.GraphViewSpec{
		Queries:    []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := claimsOf(Situation{
		Program: program, Selected: []resources.Selected{{Resource: secrets}}, Subject: "you", Own: true,
		Allowed: answered(map[access.Place]bool{{Resource: "secrets", Namespace: "a"}: true, {Resource: "secrets", Namespace: "b"}: false}),
	}).outline(nil)
	var got []watch.Key
	for n := range o.Needed {
		got = append(got, n.Key)
	}
	for _, key := range got {
		if key.Namespace != "a" {
			t.Errorf("watch of %s", key)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d watches, want that of Secrets and that of releases", len(got))
	}
}

func placesOf(namespaces []string) []access.Place {
	var places []access.Place
	for _, namespace := range namespaces {
		places = append(places, access.Place{Resource: "pods", Namespace: namespace})
	}
	return places
}
