package main

import (
	"context"
	"fmt"
)

// burst is how many events row 5 lets one core take.
const burst = 30_000

// oneCore measures row 5: how many changes of pods a process that has one core
// takes, as fast as they can be told.
func oneCore(ctx context.Context, b *bench) (lines []line) {
	r := b.newReplay(ctx)
	defer r.close()
	found := map[string]sample{}
	for _, name := range []string{"watch", "engine", "informers"} {
		found[name] = b.burst(ctx, r, name)
	}
	of := func(name string, rate func(s sample) float64) spread { return single(rate(found[name])) }
	line5 := func(what, goal string, rate func(s sample) float64) line {
		return line{
			row: 5, what: what, goal: goal, format: perSecond, ours: of("engine", rate), floor: of("watch", rate), floorName: "a client that only reads",
			peer: of("informers", rate), peerName: peers[0].name,
		}
	}
	clock := line5(fmt.Sprintf("pod updates from the watch to a subscriber in the same process, GOMAXPROCS=1, %d at once", burst), "≥ 5,000/s",
		func(s sample) float64 { return float64(s.Events) / s.EventSeconds })
	clock.reached = atLeast(5000)
	return []line{clock, line5("… by its processor time", "", func(s sample) float64 { return float64(s.Events) / s.EventProcessor })}
}

// burst measures one process that takes what is played after it has synced.
func (b *bench) burst(ctx context.Context, r *replay, name string) sample {
	return b.played(ctx, r, task{Name: name, Processors: 1}, burst, 0)
}

// played runs a child behind a replay, plays events to it once it has synced, and returns what
// it says at its end.
func (b *bench) played(ctx context.Context, r *replay, t task, events, rate int) sample {
	t.Kubeconfig, t.LastEvent = r.kubeconfig, b.changes+events
	process, out := startChild(b.plane, t)
	defer process.Stop()
	awaitReady(ctx, process, out)
	r.play(ctx, events, rate, ignoreBegin)
	s := readSample(ctx, process, out)
	s.Events = events
	return s
}
