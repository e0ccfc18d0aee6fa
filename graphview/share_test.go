package graphview

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/sharing"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// TestExtents: a view takes from a watch of all namespaces that retains only what is
// wanted while nobody needs all of it, and moves to and from one that retains everything
// without giving up what it has.
func TestExtents(t *testing.T) {
	partial, everything := toggledPartial(podsKey), podsKey
	synced := func(key watch.Key, complete bool) watchStatus {
		return watchStatus{key: key, state: watch.State{Synced: complete}, complete: complete, retains: complete}
	}
	for name, tt := range map[string]struct {
		share       sharing.Share
		current     []watchStatus
		want        map[watch.Key]bool
		wantStandby int
	}{
		"the first":                     {share: sharing.Share{Partial: true}, want: map[watch.Key]bool{partial: true}},
		"from its own":                  {share: sharing.Share{Partial: true}, current: []watchStatus{inNamespace("a")}, want: map[watch.Key]bool{partial: true, inNamespace("a").key: true}, wantStandby: 1},
		"when it has come":              {share: sharing.Share{Partial: true}, current: []watchStatus{inNamespace("a"), synced(partial, true)}, want: map[watch.Key]bool{partial: true}},
		"to everything":                 {current: []watchStatus{synced(partial, true)}, want: map[watch.Key]bool{partial: true, everything: true}, wantStandby: 1},
		"to everything, which has come": {current: []watchStatus{synced(partial, true), synced(everything, true)}, want: map[watch.Key]bool{everything: true}},
		"to everything, with nothing":   {current: []watchStatus{synced(partial, false)}, want: map[watch.Key]bool{everything: true}},
		"from everything":               {share: sharing.Share{Partial: true, Crowded: true}, current: []watchStatus{synced(everything, true)}, want: map[watch.Key]bool{partial: true, everything: true}, wantStandby: 1},
		"from everything, which is late": {
			share:   sharing.Share{Partial: true},
			current: []watchStatus{synced(everything, true), {key: partial, late: true}}, want: map[watch.Key]bool{partial: true, everything: true}, wantStandby: 1,
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
			o := outlineOf(situation{
				program: program, selected: []resources.Selected{{Resource: podsResource}},
				shared: map[watch.Key]sharing.Share{podsKey: tt.share}, current: holdings(tt.current...),
			})
			got := make(map[watch.Key]bool)
			for n := range o.needed {
				got[n.key] = true
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
			if len(o.standby) != tt.wantStandby {
				t.Errorf("%d standby, want %d", len(o.standby), tt.wantStandby)
			}
			if demanded := o.demands[podsKey]; len(demanded.Parts) != 1 || demanded.Wide || len(o.demands) != 1 {
				t.Errorf("it demands %+v", o.demands)
			}
		})
	}
}

// TestExtentsOfManyNamespaces: a view of more namespaces than are watched one by one takes
// from a watch of all that retains only what is wanted, gives up nothing that it has when
// it moves there and back, and goes on trying the watch that it was refused.
func TestExtentsOfManyNamespaces(t *testing.T) {
	partial, everything := toggledPartial(podsKey), podsKey
	synced := func(key watch.Key) watchStatus {
		return watchStatus{key: key, state: watch.State{Synced: true}, complete: true, retains: true}
	}
	pending := func(key watch.Key) watchStatus { return watchStatus{key: key, late: true} }
	forbidden := func(key watch.Key) watchStatus {
		return watchStatus{key: key, state: watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden")}}
	}
	some := map[watch.Key]sharing.Share{podsKey: {Partial: true}}
	names := numbered(maxNamespaceWatches + 1)
	accounts := answersFor(true, names...)
	accounts[access.Place{Resource: "pods"}] = false
	for name, tt := range map[string]struct {
		situation situation
		selector  string
		want      map[watch.Key]bool
		// wantOne: besides, each namespace has a watch.
		wantProbe, wantOne, wantDemand bool
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
		"from fewer":                {situation: situation{shared: some, current: holdings(inNamespace("ns-000"), pending(partial))}, want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"forbidden for a moment":    {situation: situation{shared: some, current: holdings(forbidden(partial))}, want: map[watch.Key]bool{partial: true}, wantDemand: true},
		"refused":                   {situation: situation{shared: some, current: holdings(forbidden(partial)), refused: map[resources.Resource]bool{podsResource: true}}, want: map[watch.Key]bool{partial: true}, wantProbe: true, wantOne: true},
		"refused, nobody shares it": {situation: situation{current: holdings(forbidden(partial)), refused: map[resources.Resource]bool{podsResource: true}}, want: map[watch.Key]bool{partial: true}, wantProbe: true, wantOne: true},
		"refused a wide one":        {situation: situation{shared: some, current: holdings(forbidden(everything)), refused: map[resources.Resource]bool{podsResource: true}}, want: map[watch.Key]bool{everything: true}, wantProbe: true, wantOne: true},
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
			for n := range o.needed {
				switch {
				case n.ofNamespaces():
				case n.key.Namespace == "":
					got[n.key] = true
				default:
					one++
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
			if (one == len(names)) != tt.wantOne || one > 0 != tt.wantOne || len(o.standby) > 0 != tt.wantProbe {
				t.Errorf("%d watches of single namespaces, standby %v", one, o.standby)
			}
			if demanded := o.demands[podsKey]; demanded.Partly != tt.wantDemand || len(demanded.Parts) > 0 {
				t.Errorf("it demands %+v", o.demands)
			}
		})
	}
}

// TestExtentsWhileMoreIsWanted: a view that moves to the watch that retains everything keeps
// the partial one that it has, also while a further namespace of that is still to be listed.
func TestExtentsWhileMoreIsWanted(t *testing.T) {
	partial, everything := toggledPartial(podsKey), podsKey
	listed, further := []*watch.Wanted{new(watch.Wanted), new(watch.Wanted)}, new(watch.Wanted)
	program, err := spec.Compile(t.Context(), spec.Spec{
		Queries:    []spec.Query{{Include: &spec.Include{ResourceSelectorExpression: "true"}}},
		Namespaces: &spec.Namespaces{Names: []string{"a", "b", "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		had, forbidden bool
		want           map[watch.Key]bool
	}{
		"it had all there was":                      {had: true, want: map[watch.Key]bool{partial: true, everything: true}},
		"it never had":                              {want: map[watch.Key]bool{everything: true}},
		"it had all there was, and it is forbidden": {had: true, forbidden: true, want: map[watch.Key]bool{everything: true}},
	} {
		t.Run(name, func(t *testing.T) {
			held := &tap{need: need{resource: podsResource, key: partial}, feed: &feed{}, acquired: time.Now()}
			held.feed.state.Store(&watch.State{Synced: true, Reason: watch.UpToDate})
			for _, n := range listed {
				held.feed.filled.note(n, nil)
			}
			held.replayed.Store(tt.had)
			held.wanted = listed
			if held.ready(held.state()) != tt.had {
				t.Fatalf("it has all there is: %t", !tt.had)
			}
			held.wanted = append(held.wanted[:2:2], further)
			held.replayed.Store(true)
			if tt.forbidden {
				held.feed.state.Store(&watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden"), Since: time.Now()})
			}
			if held.ready(held.state()) {
				t.Fatal("it has what is still to be listed")
			}
			k := &keeper{taps: map[need]*tap{held.need: held}}
			s := situation{program: program, selected: []resources.Selected{{Resource: podsResource}}, shared: sharedPods()}
			s.current, _ = k.currentWatches(time.Now())
			got := make(map[watch.Key]bool)
			for n := range outlineOf(s).needed {
				got[n.key] = true
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
		})
	}
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
		with           *watchStatus
		crowded        bool
		want, wantElse shareState // of who has watches of its own, and who has none
	}{
		"not begun":                    {want: apart, wantElse: shared},
		"not begun, of many":           {crowded: true, want: apart, wantElse: shared},
		"begun":                        {with: &watchStatus{state: pending}, want: apart, wantElse: shared},
		"late":                         {with: &watchStatus{state: pending, late: true}, want: apart, wantElse: apart},
		"late, of many":                {with: &watchStatus{state: pending, late: true}, crowded: true, want: apart, wantElse: shared},
		"it has all there is":          {with: &watchStatus{state: synced}, want: shared, wantElse: shared},
		"it had all there was":         {with: &watchStatus{state: lost, complete: true}, want: shared, wantElse: shared},
		"it never comes":               {with: &watchStatus{state: failing}, want: apart, wantElse: apart},
		"it never comes, of many":      {with: &watchStatus{state: failing}, crowded: true, want: apart, wantElse: shared},
		"forbidden":                    {with: &watchStatus{state: forbidden}, want: apart, wantElse: apart},
		"forbidden, of many":           {with: &watchStatus{state: forbidden}, crowded: true, want: apart, wantElse: apart},
		"forbidden from now on":        {with: &watchStatus{state: forbidden, complete: true}, want: apart, wantElse: shared},
		"forbidden from now, of many":  {with: &watchStatus{state: forbidden, complete: true}, crowded: true, want: apart, wantElse: shared},
		"it has all there is, of many": {with: &watchStatus{state: synced}, crowded: true, want: shared, wantElse: shared},
	} {
		t.Run(name, func(t *testing.T) {
			var s situation
			var with []watchStatus
			if tt.with != nil {
				tt.with.key = podsKey
				with = []watchStatus{*tt.with}
			}
			s.current = holdings(with...)
			if got := (&planner{situation: s}).shareStateOf(podsResource, podsKey, tt.crowded); got != tt.wantElse {
				t.Errorf("without watches of its own: %d, want %d", got, tt.wantElse)
			}
			s.current = holdings(append(with, inNamespace("a"))...)
			if got := (&planner{situation: s}).shareStateOf(podsResource, podsKey, tt.crowded); got != tt.want {
				t.Errorf("with watches of its own: %d, want %d", got, tt.want)
			}
			partial := watchStatus{key: toggledPartial(podsKey), state: synced}
			s.current = holdings(append(with, partial)...)
			if got := (&planner{situation: s}).shareStateOf(podsResource, podsKey, tt.crowded); got != tt.wantElse {
				t.Errorf("beside a partial watch that never had all there is: %d, want %d", got, tt.wantElse)
			}
			partial.retains = true
			want := onOtherWatch
			if tt.with != nil && tt.with.state.Synced {
				want = onSharedWatch
			}
			s.current = holdings(append(with, partial, inNamespace("a"))...)
			if got := (&planner{situation: s}).shareStateOf(podsResource, podsKey, tt.crowded); got != want {
				t.Errorf("beside a partial watch that retains something: %d, want %d", got, want)
			}
		})
	}
}
