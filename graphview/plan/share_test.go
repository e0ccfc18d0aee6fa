package plan

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// TestExtents: a view shares a partial cluster-wide watch as long as no view needs all
// namespaces. It moves to and from a complete watch without losing objects.
func TestExtents(t *testing.T) {
	partial, everything := toggledPartial(podsKey), podsKey
	synced := func(key watch.Key, complete bool) WatchStatus {
		return WatchStatus{Key: key, State: watch.State{Synced: complete, Namespaces: setOf("a")}, Complete: complete, Retains: complete}
	}
	for name, tt := range map[string]struct {
		share       Share
		current     []WatchStatus
		want        map[watch.Key]bool
		wantStandby int
	}{
		"the first":                     {share: Share{Partial: true}, want: map[watch.Key]bool{partial: true}},
		"from its own":                  {share: Share{Partial: true}, current: []WatchStatus{inNamespace("a")}, want: map[watch.Key]bool{partial: true, inNamespace("a").Key: true}, wantStandby: 1},
		"when it has come":              {share: Share{Partial: true}, current: []WatchStatus{inNamespace("a"), synced(partial, true)}, want: map[watch.Key]bool{partial: true}},
		"to everything":                 {current: []WatchStatus{synced(partial, true)}, want: map[watch.Key]bool{partial: true, everything: true}, wantStandby: 1},
		"to everything, which has come": {current: []WatchStatus{synced(partial, true), synced(everything, true)}, want: map[watch.Key]bool{everything: true}},
		"to everything, with nothing":   {current: []WatchStatus{synced(partial, false)}, want: map[watch.Key]bool{everything: true}},
		"from everything":               {share: Share{Partial: true, Crowded: true}, current: []WatchStatus{synced(everything, true)}, want: map[watch.Key]bool{partial: true, everything: true}, wantStandby: 1},
		"from everything, which is late": {
			share:   Share{Partial: true},
			current: []WatchStatus{synced(everything, true), {Key: partial, Late: true}}, want: map[watch.Key]bool{partial: true, everything: true}, wantStandby: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := spec.Compile(t.Context(), spec.Spec{
				Queries:    []spec.Query{{Include: &spec.Include{ResourceSelectorExpression: "true"}}},
				Namespaces: &spec.Namespaces{Names: []string{"a"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			s := situation{
				program: program, selected: []resources.Selected{{Resource: podsResource}},
				shared: map[watch.Key]Share{podsKey: tt.share}, current: holdings(tt.current...),
			}
			o := outlineOf(s)
			got := make(map[watch.Key]bool)
			for n := range o.Needed {
				got[n.Key] = true
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
			if len(o.Standby) != tt.wantStandby {
				t.Errorf("%d standby, want %d", len(o.Standby), tt.wantStandby)
			}
			if demanded := ClaimsOf(s.claimed()).Demands[podsKey]; len(demanded.Namespaces) != 1 || demanded.Kind != Single || len(ClaimsOf(s.claimed()).Demands) != 1 {
				t.Errorf("it demands %+v", ClaimsOf(s.claimed()).Demands)
			}
		})
	}
}

// TestExtentsOfManyNamespaces: a view of more namespaces than are watched one by one takes
// from a watch of all that retains only what is wanted, gives up nothing that it has when
// it moves there and back, and goes on trying the watch that it was refused.
func TestExtentsOfManyNamespaces(t *testing.T) {
	partial, everything := toggledPartial(podsKey), podsKey
	synced := func(key watch.Key) WatchStatus {
		return WatchStatus{Key: key, State: watch.State{Synced: true, Namespaces: setOf(numbered(maxNamespaceWatches + 1)...)}, Complete: true, Retains: true}
	}
	pending := func(key watch.Key) WatchStatus { return WatchStatus{Key: key, Late: true} }
	forbidden := func(key watch.Key) WatchStatus {
		return WatchStatus{Key: key, State: watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden")}}
	}
	some := map[watch.Key]Share{podsKey: {Partial: true}}
	names := numbered(maxNamespaceWatches + 1)
	accounts := answersFor(true, names...)
	accounts[access.Place{Resource: "pods"}] = false
	for name, tt := range map[string]struct {
		situation             situation
		selector              string
		want                  map[watch.Key]bool
		wantSingle            int // watches of single namespaces
		wantProbe, wantDemand bool
	}{
		"at first":        {want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"nobody else":     {situation: situation{shared: some}, want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"a wide one":      {situation: situation{shared: sharedPods()}, want: map[watch.Key]bool{everything: true}, wantDemand: true},
		"to a wide one":   {situation: situation{shared: sharedPods(), current: holdings(synced(partial))}, want: map[watch.Key]bool{partial: true, everything: true}, wantProbe: true, wantDemand: true},
		"from a wide one": {situation: situation{shared: some, current: holdings(synced(everything))}, want: map[watch.Key]bool{partial: true, everything: true}, wantProbe: true, wantDemand: true},
		"from a wide one, late": {
			situation: situation{shared: some, current: holdings(synced(everything), pending(partial))},
			want:      map[watch.Key]bool{partial: true, everything: true}, wantProbe: true, wantDemand: true,
		},
		"from a wide one, done":     {situation: situation{shared: some, current: holdings(synced(everything), synced(partial))}, want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"from fewer":                {situation: situation{shared: some, current: holdings(inNamespace("ns-000"), pending(partial))}, want: map[watch.Key]bool{partial: true}, wantSingle: 1, wantDemand: true},
		"forbidden for a moment":    {situation: situation{shared: some, current: holdings(forbidden(partial))}, want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"refused":                   {situation: situation{shared: some, current: holdings(forbidden(partial)), refused: map[resources.Resource]bool{podsResource: true}}, want: map[watch.Key]bool{partial: true}, wantProbe: true, wantSingle: len(names)},
		"refused, nobody shares it": {situation: situation{current: holdings(forbidden(partial)), refused: map[resources.Resource]bool{podsResource: true}}, want: map[watch.Key]bool{partial: true}, wantProbe: true, wantSingle: len(names)},
		"refused a wide one":        {situation: situation{shared: some, current: holdings(forbidden(everything)), refused: map[resources.Resource]bool{podsResource: true}}, want: map[watch.Key]bool{everything: true}, wantProbe: true, wantSingle: len(names)},
		"rights in each":            {situation: situation{shared: some, who: "sa", answers: accounts}, want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"by what they are, too":     {selector: "name != 'ns-001'", want: map[watch.Key]bool{everything: true}},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := spec.Compile(t.Context(), spec.Spec{
				Queries:    []spec.Query{{Include: &spec.Include{ResourceSelectorExpression: "true"}}},
				Namespaces: &spec.Namespaces{Names: names, ObjectSelectorExpression: tt.selector},
			})
			if err != nil {
				t.Fatal(err)
			}
			s := tt.situation
			s.program, s.selected = program, []resources.Selected{{Resource: podsResource}}
			o := outlineOf(s)
			got, one := make(map[watch.Key]bool), 0
			for n := range o.Needed {
				switch {
				case n.OfNamespaces():
				case n.Key.Namespace == "":
					got[n.Key] = true
				default:
					one++
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
			if one != tt.wantSingle || len(o.Standby) > 0 != tt.wantProbe {
				t.Errorf("%d watches of single namespaces, standby %v", one, o.Standby)
			}
			if demanded := ClaimsOf(s.claimed()).Demands[podsKey]; demanded.Kind == Several != tt.wantDemand || tt.wantDemand && len(demanded.Namespaces) != len(names) {
				t.Errorf("it demands %+v", ClaimsOf(s.claimed()).Demands)
			}
		})
	}
}

// stateOf is the state of a view of some Pods whose other views share podsKey.
func stateOf(s situation, crowded bool) shareState {
	p := planner{Claims: &Claims{s: s.claimed()}, current: s.current}
	return p.shareStateOf(&claim{selected: resources.Selected{Resource: podsResource}}, podsKey, crowded)
}

// TestShareState: nothing is given up before the shared watch has all there is, and a
// view does without it where it is of no use.
func TestShareState(t *testing.T) {
	since := time.Now()
	pending := watch.State{Reason: watch.Pending}
	synced := watch.State{Synced: true, Reason: watch.UpToDate}
	lost := watch.State{Synced: true, Reason: watch.Failing, Err: errors.New("lost"), Since: since}
	failing := watch.State{Reason: watch.Failing, Err: errors.New("too large"), Since: since}
	forbidden := watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden"), Since: since}
	const apart, shared = unshared, onSharedWatch
	for name, tt := range map[string]struct {
		with           *WatchStatus
		crowded        bool
		want, wantElse shareState // of who has watches of its own, and who has none
	}{
		"not begun":                    {want: apart, wantElse: shared},
		"not begun, of many":           {crowded: true, want: apart, wantElse: shared},
		"begun":                        {with: &WatchStatus{State: pending}, want: apart, wantElse: shared},
		"late":                         {with: &WatchStatus{State: pending, Late: true}, want: apart, wantElse: apart},
		"late, of many":                {with: &WatchStatus{State: pending, Late: true}, crowded: true, want: apart, wantElse: shared},
		"it has all there is":          {with: &WatchStatus{State: synced}, want: shared, wantElse: shared},
		"it had all there was":         {with: &WatchStatus{State: lost, Complete: true}, want: shared, wantElse: shared},
		"it never comes":               {with: &WatchStatus{State: failing}, want: apart, wantElse: apart},
		"it never comes, of many":      {with: &WatchStatus{State: failing}, crowded: true, want: apart, wantElse: shared},
		"forbidden":                    {with: &WatchStatus{State: forbidden}, want: apart, wantElse: apart},
		"forbidden, of many":           {with: &WatchStatus{State: forbidden}, crowded: true, want: apart, wantElse: apart},
		"forbidden from now on":        {with: &WatchStatus{State: forbidden, Complete: true}, want: apart, wantElse: shared},
		"forbidden from now, of many":  {with: &WatchStatus{State: forbidden, Complete: true}, crowded: true, want: apart, wantElse: shared},
		"it has all there is, of many": {with: &WatchStatus{State: synced}, crowded: true, want: shared, wantElse: shared},
	} {
		t.Run(name, func(t *testing.T) {
			var s situation
			var with []WatchStatus
			if tt.with != nil {
				tt.with.Key = podsKey
				with = []WatchStatus{*tt.with}
			}
			s.current = holdings(with...)
			if got := stateOf(s, tt.crowded); got != tt.wantElse {
				t.Errorf("without watches of its own: %d, want %d", got, tt.wantElse)
			}
			s.current = holdings(append(with, inNamespace("a"))...)
			if got := stateOf(s, tt.crowded); got != tt.want {
				t.Errorf("with watches of its own: %d, want %d", got, tt.want)
			}
			partial := WatchStatus{Key: toggledPartial(podsKey), State: synced}
			s.current = holdings(append(with, partial)...)
			if got := stateOf(s, tt.crowded); got != tt.wantElse {
				t.Errorf("beside a partial watch that never had all there is: %d, want %d", got, tt.wantElse)
			}
			partial.Retains = true
			want := onOtherWatch
			if tt.with != nil && tt.with.State.Synced {
				want = onSharedWatch
			}
			s.current = holdings(append(with, partial, inNamespace("a"))...)
			if got := stateOf(s, tt.crowded); got != want {
				t.Errorf("beside a partial watch that retains something: %d, want %d", got, want)
			}
		})
	}
}
