package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

var (
	podsResource  = resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	nodesResource = resources.Resource{Version: "v1", Resource: "nodes", Kind: "Node"}
)

// situation is the input of an outline.
type situation struct {
	program    *spec.Program
	selected   []resources.Selected
	who        string
	answers    map[access.Place]bool
	unanswered error
	refused    map[resources.Resource]bool
	namespaces map[string]bool
	complete   bool

	shared  map[watch.Key]Share
	watches map[resources.Resource][]WatchStatus
}

func (s situation) claimed() Situation {
	return Situation{
		Program: s.program, Selected: s.selected, Subject: s.who, Allowed: answered(s.answers), Unanswered: s.unanswered,
		Refused: s.refused, Namespaces: s.namespaces, Complete: s.complete, Watches: s.watches,
	}
}

// answered returns the answers as the function of a Situation.
func answered(answers map[access.Place]bool) func(access.Place) (allowed, known bool) {
	return func(place access.Place) (allowed, known bool) {
		allowed, known = answers[place]
		return allowed, known
	}
}

func outlineOf(s situation) Outline { return claimsOf(s.claimed()).outline(s.shared) }

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("ns-%03d", i)
	}
	return names
}

// namespaceNames returns names as a spec has them.
func namespaceNames(names ...string) (out []v1alpha1.NamespaceName) {
	for _, name := range names {
		out = append(out, v1alpha1.NamespaceName(name))
	}
	return out
}

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}

// answersFor answers about pods in namespaces, where "" stands for all.
func answersFor(allowed bool, namespaces ...string) map[access.Place]bool {
	answers := make(map[access.Place]bool)
	for _, namespace := range namespaces {
		answers[access.Place{Resource: "pods", Namespace: namespace}] = allowed
	}
	return answers
}

func TestOutline(t *testing.T) {
	selective := &v1alpha1.Namespaces{LabelSelector: "team=a"}
	merge := func(all ...map[access.Place]bool) map[access.Place]bool {
		out := make(map[access.Place]bool)
		for _, one := range all {
			maps.Copy(out, one)
		}
		return out
	}
	tests := map[string]struct {
		namespaces *v1alpha1.Namespaces
		labels     string
		resources  []resources.Resource // nil: pods
		situation  situation

		want        []string // namespace of each watch of pods or nodes, sorted
		wantList    bool     // the watch of namespaces is needed
		wantWithin  int
		wantPlaces  int
		wantMessage string // of what is left out
		wantProbe   bool
		wantOpen    bool
		wantBlind   bool
	}{
		"everything":                        {want: []string{""}},
		"a cluster-scoped resource":         {namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}}, resources: []resources.Resource{nodesResource}, want: []string{""}},
		"named namespaces":                  {namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"b", "a"}}, want: []string{"a", "b"}},
		"many named namespaces":             {namespaces: &v1alpha1.Namespaces{Names: namespaceNames(numbered(maxNamespaceWatches + 1)...)}, want: []string{""}},
		"as many as are watched one by one": {namespaces: &v1alpha1.Namespaces{Names: namespaceNames(numbered(maxNamespaceWatches)...)}, want: numbered(maxNamespaceWatches)},
		"named namespaces of many resources": {
			namespaces: &v1alpha1.Namespaces{Names: namespaceNames(numbered(3)...)},
			resources:  manyResources(100),
			want:       slices.Repeat([]string{""}, 100),
		},
		"selected namespaces, not known yet": {namespaces: selective, want: []string{""}, wantList: true, wantOpen: true},
		"selected namespaces": {
			namespaces: selective, situation: situation{namespaces: setOf("a"), complete: true},
			want: []string{""}, wantList: true,
		},

		"the operator is refused, namespaces are not known": {
			situation: situation{refused: map[resources.Resource]bool{podsResource: true}},
			want:      []string{""}, wantList: true, wantOpen: true, wantProbe: true,
		},
		"the operator is refused": {
			situation: situation{refused: map[resources.Resource]bool{podsResource: true}, namespaces: setOf("a", "b"), complete: true},
			want:      []string{"", "a", "b"}, wantList: true, wantProbe: true,
		},
		"the operator is refused, names": {
			namespaces: &v1alpha1.Namespaces{Names: namespaceNames(numbered(17)...)},
			situation:  situation{refused: map[resources.Resource]bool{podsResource: true}},
			want:       append([]string{""}, numbered(17)...), wantProbe: true,
		},
		"the operator is refused in too many": {
			situation: situation{refused: map[resources.Resource]bool{podsResource: true}, namespaces: setOf(numbered(257)...), complete: true},
			want:      []string{""}, wantProbe: true,
			wantList: true, wantMessage: "it may not watch all namespaces at once, and there are more than 256",
		},

		"rights, not known yet":     {situation: situation{who: "sa"}, wantPlaces: 1, wantOpen: true},
		"rights, will not be known": {situation: situation{who: "sa", unanswered: errors.New("down")}, wantPlaces: 1, wantMessage: "whether sa may list and watch it is not known: down"},
		"rights everywhere":         {situation: situation{who: "sa", answers: answersFor(true, "")}, want: []string{""}, wantPlaces: 1},
		"no right to a cluster-scoped resource": {
			resources: []resources.Resource{nodesResource}, situation: situation{who: "sa", answers: map[access.Place]bool{{Resource: "nodes"}: false}},
			wantPlaces: 1, wantMessage: "sa may not list and watch it",
		},
		"rights in one of two names": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}},
			situation:  situation{who: "sa", answers: merge(answersFor(false, "", "b"), answersFor(true, "a"))},
			want:       []string{"a"}, wantPlaces: 3, wantWithin: 1, wantMessage: "sa may not list and watch it in b",
		},
		"rights in one of two names, the other not known yet": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}},
			situation:  situation{who: "sa", answers: merge(answersFor(false, ""), answersFor(true, "a"))},
			want:       []string{"a"}, wantPlaces: 3, wantWithin: 1, wantOpen: true,
		},
		"rights in one of two names, the other will not be known": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}},
			situation:  situation{who: "sa", answers: merge(answersFor(false, ""), answersFor(true, "a")), unanswered: errors.New("down")},
			want:       []string{"a"}, wantPlaces: 3, wantWithin: 1, wantMessage: "not known: down",
		},
		"rights in some of all namespaces": {
			situation: situation{who: "sa", namespaces: setOf("a", "b"), complete: true, answers: merge(answersFor(false, "", "b"), answersFor(true, "a"))},
			want:      []string{"a"}, wantList: true, wantPlaces: 3, wantWithin: 1, wantMessage: "sa may not list and watch it in all namespaces",
		},
		"rights in many namespaces": {
			situation: situation{who: "sa", namespaces: setOf(numbered(17)...), complete: true, answers: merge(answersFor(false, ""), answersFor(true, numbered(17)...))},
			want:      []string{""}, wantList: true, wantWithin: 17, wantPlaces: 18,
		},
		"rights in many namespaces, the operator is refused": {
			situation: situation{
				who: "sa", namespaces: setOf(numbered(17)...), complete: true, answers: merge(answersFor(false, ""), answersFor(true, numbered(17)...)),
				refused: map[resources.Resource]bool{podsResource: true},
			},
			want: append([]string{""}, numbered(17)...), wantList: true, wantPlaces: 18, wantProbe: true, wantWithin: 17,
		},

		"namespaces that may not be read": {
			namespaces: selective,
			situation:  situation{who: "sa", answers: merge(answersFor(true, ""), map[access.Place]bool{{Resource: "namespaces"}: false})},
			want:       []string{""}, wantPlaces: 2, wantMessage: "sa may not list and watch it", wantBlind: true,
		},
		"namespaces, not known whether they may be read": {
			namespaces: selective, situation: situation{who: "sa", answers: answersFor(true, "")},
			want: []string{""}, wantPlaces: 2, wantOpen: true,
		},
		"namespaces that may be read": {
			namespaces: selective,
			situation:  situation{who: "sa", answers: merge(answersFor(true, ""), map[access.Place]bool{{Resource: "namespaces"}: true}), namespaces: setOf(), complete: true},
			want:       []string{""}, wantList: true, wantPlaces: 2,
		},

		"a shared watch": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}}, situation: situation{shared: sharedPods()},
			want: []string{""},
		},
		"a shared watch of what the view would watch in more namespaces": {
			namespaces: &v1alpha1.Namespaces{Names: namespaceNames(numbered(17)...)}, situation: situation{shared: sharedPods()}, want: []string{""},
		},
		"a shared watch, for a view that has its own": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}}, situation: situation{shared: sharedPods(), watches: holdings(inNamespace("a"))},
			want: []string{"", "a"}, wantProbe: true,
		},
		"a shared watch that has all there is, for a view that has its own": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}},
			situation:  situation{shared: sharedPods(), watches: holdings(inNamespace("a"), WatchStatus{Key: podsKey, State: watch.State{Synced: true}})},
			want:       []string{""},
		},
		"a shared watch, rights in one of two names": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}},
			situation:  situation{shared: sharedPods(), who: "sa", answers: merge(answersFor(false, "", "b"), answersFor(true, "a"))},
			want:       []string{""}, wantPlaces: 3, wantWithin: 1, wantMessage: "sa may not list and watch it in b",
		},
		"a shared watch, rights not known yet": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}}, situation: situation{shared: sharedPods(), who: "sa"}, wantPlaces: 1, wantOpen: true,
		},
		"a shared watch, rights in one name not known yet": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a", "b"}},
			situation:  situation{shared: sharedPods(), who: "sa", answers: merge(answersFor(false, ""), answersFor(true, "a"))},
			want:       []string{""}, wantPlaces: 3, wantWithin: 1, wantOpen: true,
		},
		"a shared watch, no rights in any name": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}},
			situation:  situation{shared: sharedPods(), who: "sa", answers: answersFor(false, "", "a")},
			wantPlaces: 2, wantMessage: "sa may not list and watch it in a",
		},
		"a shared watch, rights in some of all namespaces": {
			situation: situation{shared: sharedPods(), who: "sa", namespaces: setOf("a", "b"), complete: true, answers: merge(answersFor(false, "", "b"), answersFor(true, "a"))},
			want:      []string{""}, wantList: true, wantPlaces: 3, wantWithin: 1, wantMessage: "sa may not list and watch it in all namespaces",
		},
		"a shared watch that the operator is refused": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}},
			situation:  situation{shared: sharedPods(), refused: map[resources.Resource]bool{podsResource: true}},
			want:       []string{"", "a"}, wantProbe: true,
		},
		"a watch that is no longer shared": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}}, situation: situation{watches: holdings(WatchStatus{Key: podsKey, State: watch.State{Synced: true}})},
			want: []string{"a"},
		},
		"a shared watch, with labels": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}}, labels: "a=b", situation: situation{shared: sharedPods()},
			want: []string{""},
		},
		"a shared watch of other labels": {
			namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"a"}}, labels: "a=b",
			situation: situation{shared: map[watch.Key]Share{{Resource: podsKey.Resource, LabelSelector: "a=c"}: {}}},
			want:      []string{"a"},
		},

		"any number of watches that all share": {resources: manyResources(1001), want: slices.Repeat([]string{""}, 1001)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			include := v1alpha1.Include{ResourceSelectorExpression: "true", Object: &v1alpha1.ObjectFilter{LabelSelector: tt.labels}}
			program, err := spec.Compile(t.Context(), nil, v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &include}}, Namespaces: tt.namespaces})
			if err != nil {
				t.Fatal(err)
			}
			s := tt.situation
			s.program = program
			if tt.resources == nil {
				tt.resources = []resources.Resource{podsResource}
			}
			for _, r := range tt.resources {
				s.selected = append(s.selected, resources.Selected{Resource: r})
			}
			o := outlineOf(s)
			var got []string
			list := false
			for n := range o.Needed {
				if n.Query < 0 {
					list = true
					continue
				}
				got = append(got, n.Key.Namespace)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
			if list != tt.wantList {
				t.Errorf("namespaces are listed: %t", list)
			}
			if n := len(o.Within[podsResource]); n != tt.wantWithin {
				t.Errorf("within %d namespaces, want %d", n, tt.wantWithin)
			}
			if len(claimsOf(s.claimed()).places) != tt.wantPlaces {
				t.Errorf("%d places, want %d", len(claimsOf(s.claimed()).places), tt.wantPlaces)
			}
			if (len(o.Standby) > 0) != tt.wantProbe || o.Open() != tt.wantOpen || o.Blind != tt.wantBlind {
				t.Errorf("standby %v, open %t, blind %t", o.Standby, o.Open(), o.Blind)
			}
			message := ""
			if len(o.Without) > 0 {
				message = o.Without[0].Message()
			}
			if !strings.Contains(message, tt.wantMessage) || (message == "") != (tt.wantMessage == "") {
				t.Errorf("message %q, want %q", message, tt.wantMessage)
			}
		})
	}
}

// TestProbeAdmitsOnlyReadable: a watch of all namespaces that is kept as a probe admits only
// what may be read.
func TestProbeAdmitsOnlyReadable(t *testing.T) {
	const granted = 250 // in each, four of the resources may be watched
	all := manyResources(5)
	names := numbered(400)
	for name, namespaces := range map[string]*v1alpha1.Namespaces{"of all namespaces": nil, "of those named": {Names: namespaceNames(names...)}} {
		t.Run(name, func(t *testing.T) {
			program, err := spec.Compile(t.Context(), nil, v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}}, Namespaces: namespaces,
			})
			if err != nil {
				t.Fatal(err)
			}
			s := situation{
				program: program, who: "sa", answers: make(map[access.Place]bool), refused: make(map[resources.Resource]bool),
				namespaces: setOf(names...), complete: true,
			}
			for _, r := range all {
				s.selected = append(s.selected, resources.Selected{Resource: r})
				s.refused[r] = true
				s.answers[access.Place{Group: r.Group, Resource: r.Resource}] = false
				for i, namespace := range names {
					s.answers[access.Place{Group: r.Group, Resource: r.Resource, Namespace: namespace}] = i < granted
				}
			}
			o := outlineOf(s)
			if len(o.Standby) != len(all) {
				t.Fatalf("%d standby, want a trial of each", len(o.Standby))
			}
			for n := range o.Standby {
				if within := o.Within[n.Resource]; !within[names[granted-1]] || within[names[granted]] || within["another"] {
					t.Errorf("%s: the probe is within other namespaces than those granted", n.Resource)
				}
			}
		})
	}
}

// TestRightsBeyondTheLedger: a view asks for no more rights than its owner may hold.
func TestRightsBeyondTheLedger(t *testing.T) {
	program, err := spec.Compile(t.Context(), nil, v1alpha1.GraphViewSpec{
		Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}}, Namespaces: &v1alpha1.Namespaces{Names: namespaceNames(numbered(100)...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for charged, wantOverdrawn := range map[int]bool{100: true, 101: false} {
		s := situation{program: program, who: "sa", answers: answersFor(false, ""), selected: []resources.Selected{{Resource: podsResource}}}.claimed()
		s.Charge = func(places int) error {
			if places > charged {
				return &budget.Overdrawn{Owner: budget.NamespaceOwner("shop")}
			}
			return nil
		}
		if c := claimsOf(s); c.overdrawn != wantOverdrawn || len(c.places) != charged {
			t.Errorf("with room for %d: overdrawn %t, %d places", charged, c.overdrawn, len(c.places))
		}
	}
}

var podsKey = watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}

func sharedPods() map[watch.Key]Share { return map[watch.Key]Share{podsKey: {}} }

func inNamespace(namespace string) WatchStatus {
	h := WatchStatus{Key: podsKey, State: watch.State{Synced: true}}
	h.Key.Namespace = namespace
	return h
}

func holdings(all ...WatchStatus) map[resources.Resource][]WatchStatus {
	return map[resources.Resource][]WatchStatus{podsResource: all}
}

func manyResources(n int) []resources.Resource {
	all := make([]resources.Resource, n)
	for i := range all {
		all[i] = resources.Resource{Group: "many", Version: "v1", Resource: fmt.Sprintf("r%04d", i), Kind: fmt.Sprintf("R%04d", i), Namespaced: true}
	}
	return all
}
