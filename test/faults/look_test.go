package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// healsWithin bounds how long after the end of all faults the graphs may differ, and
// fewestLooks how often they are looked at before that: on a busy machine, one look
// takes its time, and what it is at may have changed.
const (
	healsWithin = 2 * time.Minute
	fewestLooks = 10
	// trusted is how long an engine is taken at its word that something is missing.
	trusted = 5 * time.Second
)

// slow is how long they may without a word about it.
const slow = 15 * time.Second

// look compares what subscribers of one view have with the oracle's graph.
type look struct {
	scene       *scene
	view        string
	want        oracle.View
	subscribers []*viewer
	// differs is what the last comparison found, "" for nothing.
	differs string
	took    time.Duration
}

// compare waits until the subscribers of each look have the oracle's graph. All looks
// of one time are at one snapshot. It returns what is wrong, by scene.
func compare(ctx context.Context, looks []*look) map[*scene]error {
	began, wrong := time.Now(), make(map[*scene]error)
	pending := slices.Clone(looks)
	times := 0
	fixture.Wait(ctx, 5*healsWithin, 2*pollInterval, func() string {
		if times++; times > fewestLooks && time.Since(began) > healsWithin {
			return "" // they differ for good
		}
		snapshot, err := oracle.Take(plane.Config())
		if err != nil {
			for _, l := range pending {
				l.differs = err.Error()
			}
			return "no snapshot"
		}
		defer snapshot.Close()
		pending = slices.DeleteFunc(pending, func(l *look) bool {
			l.took = time.Since(began)
			for _, sub := range l.subscribers {
				if err := sub.Err(); err != nil {
					l.differs = err.Error()
					wrong[l.scene] = errors.Join(wrong[l.scene], err)
					return true
				}
			}
			before := l.differs
			l.differs = l.compare(ctx, snapshot)
			if l.differs == "" && l.took > slow {
				fmt.Printf("    %q took %.1fs; until then %.1200s\n", l.view, l.took.Seconds(), before)
			}
			return l.differs == ""
		})
		if len(pending) > 0 {
			return "some differ"
		}
		return ""
	})
	for _, l := range pending {
		wrong[l.scene] = errors.Join(wrong[l.scene], fmt.Errorf("after %.0fs: %s", time.Since(began).Seconds(), l.differs))
	}
	return wrong
}

// compare says how a subscriber's graph differs from the oracle's, "" if none does. What
// a graph must be is not worked out at first where the engine says that something is
// missing. Later it is, since an engine may wait long before it asks again.
func (l *look) compare(ctx context.Context, snapshot *oracle.Snapshot) string {
	for i, sub := range l.subscribers {
		if why := l.scene.engine.unsettled(sub.view); why != "" && l.took < trusted {
			return fmt.Sprintf("subscriber %d of %q: %s", i, l.view, why)
		}
	}
	want, err := snapshot.Build(ctx, l.want)
	if err != nil {
		return fmt.Sprintf("oracle: %v", err)
	}
	for i, sub := range l.subscribers {
		if d := sub.Differs(want); d != "" {
			return fmt.Sprintf("subscriber %d of %q, which is %s; the oracle has %d vertices and %d arcs (-oracle +client):\n%s",
				i, l.view, l.scene.engine.status(sub.view), len(want.Vertices), len(want.Arcs), d)
		}
	}
	return ""
}
