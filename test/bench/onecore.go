package main

import (
	"context"
	"fmt"
)

// burst is the number of events of row 5.
const burst = 30_000

// oneCore measures row 5: the changes of pods a second that a process with one core
// takes when they come at once.
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

// burst runs a child with one core behind a replay, plays the events to it once it has synced, and
// returns its sample.
func (b *bench) burst(ctx context.Context, r *replay, name string) sample {
	process, out := b.startChild(task{Name: name, Processors: 1, Kubeconfig: r.kubeconfig, LastEvent: *b.changes + burst})
	defer process.Stop()
	awaitReady(ctx, process, out)
	r.play(ctx, burst, 0, ignoreBegin)
	s := readSample(ctx, process, out)
	s.Events = burst
	return s
}
