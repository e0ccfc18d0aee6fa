package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

// burst is how many events row 5 lets one core take.
const burst = 30_000

// oneCore measures row 5: how many changes of pods a process that has one core
// takes, as fast as they can be told.
func oneCore(ctx context.Context, b *bench) (lines []line, err error) {
	r, err := b.newReplay(ctx)
	if err != nil {
		return nil, err
	}
	defer r.close()
	found := map[string]sample{}
	for _, name := range []string{"watch", "engine", "informers"} {
		if found[name], err = b.burst(ctx, r, name); err != nil {
			return nil, err
		}
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
	return []line{clock, line5("… by its processor time", "", func(s sample) float64 { return float64(s.Events) / s.EventProcessor })}, nil
}

// burst measures one process that takes what is played after it has synced.
func (b *bench) burst(ctx context.Context, r *replay, name string) (s sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, fmt.Errorf("find this program: %w", err)
	}
	return b.played(ctx, r, name, self, burst, 0,
		"-kubeconfig="+r.kubeconfig, "-processors=1", "-events="+strconv.Itoa(b.changes+burst))
}

// played runs a child, plays events to it once it has synced, and returns what
// it says at its end.
func (b *bench) played(ctx context.Context, r *replay, name, path string, events, rate int, args ...string) (s sample, err error) {
	process, out, err := startChild(b.plane, name, path, args...)
	if err != nil {
		return s, err
	}
	defer process.Stop()
	if err := until(ctx, process, func() (bool, error) {
		_, err := os.Stat(out + ".ready")
		return err == nil, nil
	}); err != nil {
		return s, err
	}
	if err := os.Remove(out + ".ready"); err != nil {
		return s, fmt.Errorf("remove a note: %w", err)
	}
	if _, err := r.play(ctx, events, rate, ignoreBegin); err != nil {
		return s, err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		return s, context.Cause(ctx)
	}
	s, err = readSample(process, name, out)
	s.Events = events
	return s, err
}
