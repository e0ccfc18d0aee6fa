package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "-90s": now.Add(-90 * time.Second), "3d": now.Add(-72 * time.Hour), "0s": now,
		"2026-11-29T09:30:00Z": now.Add(-30 * time.Minute), "2026-11-29T10:30:00.000001+01:00": now.Add(-30*time.Minute + time.Microsecond),
	} {
		if got, err := parseMoment(text, now); err != nil || got != want.UnixMicro() {
			t.Errorf("%s: %v %v, want %v", text, time.UnixMicro(got).UTC(), err, want)
		}
	}
	for _, text := range []string{"-", "d", "x", "--2h", "2026-11-29", "5000d", "-3dd", "NaNd", "Infd"} {
		if got, err := parseMoment(text, now); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

// TestChangesOfEntry: an entry becomes the changes that people would name, an effect before its cause, without the changes that
// another entry implies.
func TestChangesOfEntry(t *testing.T) {
	ok, broken := history.HealthOf(health.Health{State: health.OK}), history.HealthOf(health.Health{State: health.Degraded, Reason: "CrashLoopBackOff"})
	entry := func(e history.Entry) *delivery.Changed {
		e.Object = graph.Key{Resource: graph.Resource{Version: "v1", Resource: "pods"}, Namespace: "shop", Name: "web"}
		e.Kind, e.At = "Pod", 1_700_000_000_000_000
		return &delivery.Changed{Entry: &e, Times: 1, First: e.At}
	}
	for name, test := range map[string]struct {
		changed *delivery.Changed
		want    []string
	}{
		"added":   {entry(history.Entry{Op: history.Added, After: ok}), []string{"added >ok"}},
		"removed": {entry(history.Entry{Op: history.Removed, Before: broken}), []string{"removed degraded>"}},
		"health and content": {
			entry(history.Entry{Before: ok, After: broken, Paths: []history.Path{{Path: "spec.image", Before: "a", After: "b"}}, More: 2}),
			[]string{"health ok>degraded CrashLoopBackOff", "content spec.image a>b and 2"},
		},
		"counts alone":     {entry(history.Entry{Before: ok, After: ok}), nil},
		"an implied arc":   {entry(history.Entry{Before: ok, After: ok, Arcs: []history.Arc{{Implied: true, Before: graph.ArcSide{Exists: true}}}}), nil},
		"a hidden target":  {entry(history.Entry{Before: ok, After: ok, Arcs: []history.Arc{{Before: graph.ArcSide{Exists: true}}}}), nil},
		"fields of an arc": {entry(history.Entry{Before: ok, After: ok, Arcs: []history.Arc{{Before: graph.ArcSide{Exists: true}, After: graph.ArcSide{Exists: true}}}}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range changesOfEntry(test.changed) {
				line := string(c.Type)
				if h := c.Health; h != nil {
					line += strings.TrimRight(" "+h.From+">"+h.To+" "+h.Why, " ")
				}
				for _, p := range c.Paths {
					line += " " + p.Path + " " + *p.Before + ">" + *p.After
				}
				if c.MorePaths > 0 {
					line += " and 2"
				}
				got = append(got, line)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
