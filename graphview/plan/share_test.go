package plan

import (
	"errors"
	"testing"
	"time"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// usesPods reports whether a view of some Pods uses podsKey, which other views share.
func usesPods(s situation, crowded bool) bool {
	p := planner{claims: &claims{s: s.claimed()}}
	return p.usesShared(&claim{selected: resources.Selected{Resource: podsResource}}, podsKey, crowded)
}

// TestUsesShared: nothing is given up before the shared watch has all there is, and a
// view does without it where it is of no use.
func TestShareState(t *testing.T) {
	since := time.Now()
	pending := watch.State{Reason: watch.Pending}
	synced := watch.State{Synced: true, Reason: watch.UpToDate}
	lost := watch.State{Synced: true, Reason: watch.Failing, Err: errors.New("lost"), Since: since}
	failing := watch.State{Reason: watch.Failing, Err: errors.New("too large"), Since: since}
	forbidden := watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden"), Since: since}
	const apart, shared = false, true
	for name, tt := range map[string]struct {
		with           *WatchStatus
		crowded        bool
		want, wantElse bool // of who has watches of its own, and who has none
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
			s.watches = holdings(with...)
			if got := usesPods(s, tt.crowded); got != tt.wantElse {
				t.Errorf("without watches of its own: %t, want %t", got, tt.wantElse)
			}
			s.watches = holdings(append(with, inNamespace("a"))...)
			if got := usesPods(s, tt.crowded); got != tt.want {
				t.Errorf("with watches of its own: %t, want %t", got, tt.want)
			}
		})
	}
}
