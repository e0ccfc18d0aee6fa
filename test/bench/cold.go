package main

import (
	"context"
	"fmt"
	"os"
)

// peers do the engine's work with objects, or a part of it. They have the name of the child
// process, and a name in the table.
var peers = []struct{ child, name string }{
	{"informers", "dynamic informers"},
	{"stripped", "the same without managedFields"},
	{"controller-runtime", "controller-runtime cache, unstructured"},
	{"gitops", "gitops-engine cluster cache"},
	{"manifests", "the same with manifests"},
}

// coldStart measures rows 1 to 3: a few rounds of each program, each in a separate process.
func coldStart(ctx context.Context, b *bench) []line {
	names := []string{"floor", "gzip", "engine"}
	gitops := ""
	if !b.alone {
		gitops = buildGitOps(ctx, b.root)
		for _, peer := range peers {
			names = append(names, peer.child)
		}
	}
	for round := range b.runs {
		for _, name := range names {
			t := task{Name: name, Settle: b.settle}
			if name == "gitops" || name == "manifests" {
				t.Program, t.Manifests = gitops, name == "manifests"
				for _, target := range targets {
					t.Resources = append(t.Resources, target.Group+"/"+target.kind)
				}
			}
			s := b.child(ctx, t)
			b.note(round, name, &s)
		}
		s := b.managers.measure(ctx)
		b.note(round, "manager", &s)
	}
	return b.coldLines()
}

// note keeps a sample and says how the round went.
func (b *bench) note(round int, name string, s *sample) {
	b.samples[name] = append(b.samples[name], *s)
	fmt.Fprintf(os.Stderr, "round %d of %d: %s: %.2f s, of processor time %.2f s, %d MB resident\n",
		round+1, b.runs, name, s.Seconds, s.Processor, s.Resident/1e6)
}

// listed is how many bytes the floor has read, 0 if it was not measured.
func (b *bench) listed() float64 {
	if len(b.samples["floor"]) == 0 {
		return 0
	}
	return spreadOf(b.samples["floor"], func(s *sample) float64 { return float64(s.Bytes) }).median()
}

func (b *bench) coldLines() []line {
	of := func(name string, value func(*sample) float64) spread { return spreadOf(b.samples[name], value) }
	duration := func(s *sample) float64 { return s.Seconds }
	processor := func(s *sample) float64 { return s.Processor }
	heap := func(s *sample) float64 { return float64(s.Heap) / float64(s.Objects) }
	resident := func(s *sample) float64 { return float64(s.Resident) }
	collected := func(s *sample) float64 { return float64(s.Collected) }
	over := func(s *sample) float64 { return float64(s.Peak) / float64(s.Resident) }
	overCollected := func(s *sample) float64 { return float64(s.Peak) / float64(s.Collected) }

	alone := func(row int, what, goal string, value func(*sample) float64, format func(float64) string) line {
		return line{row: row, what: what, goal: goal, ours: of("engine", value), format: format}
	}
	besides := func(row int, goals []string, part float64, value func(*sample) float64, format func(float64) string) (lines []line) {
		for i, peer := range peers {
			if b.alone {
				break
			}
			l := alone(row, "… beside it", goals[i], value, format)
			l.peer, l.peerName = of(peer.child, value), peer.name
			if goals[i] != "" {
				l.reached = partOfPeer(part)
			}
			lines = append(lines, l)
		}
		return lines
	}
	heaps := alone(1, "heap per object, graph and content included, the engine alone", "≤ 1.6 KB", heap, kilobytes)
	heaps.reached = within(1.6e3)
	lines := append([]line{heaps}, besides(1, []string{"≤ 1/15", "", "", "", ""}, 1.0/15, heap, kilobytes)...)
	held := alone(1, "resident, bin/manager with a subscriber", "≤ 250 MB", resident, megabytes)
	held.ours, held.reached = of("manager", resident), within(250e6)
	held.peer, held.peerName = of("informers", resident), peers[0].name
	before := alone(1, "… of that before there was a view", "", resident, megabytes)
	before.ours = of("manager", func(s *sample) float64 { return float64(s.Idle) })
	left := alone(1, "resident, the engine alone, once garbage is given back", "", collected, megabytes)
	left.peer, left.peerName = of("informers", collected), peers[0].name
	lines = append(lines, held, before, left)

	peak := alone(2, "most resident ÷ resident when settled, bin/manager", "≤ 1.5", over, plain)
	peak.ours, peak.reached = of("manager", over), within(1.5)
	peak.peer, peak.peerName = of("informers", over), peers[0].name
	// Stricter: beside what is left when garbage is given back.
	peakAlone := alone(2, "most resident ÷ resident once garbage is given back, the engine alone", "≤ 1.5", overCollected, plain)
	peakAlone.reached = within(1.5)
	peakAlone.peer, peakAlone.peerName = of("informers", overCollected), peers[0].name
	lines = append(lines, peak, peakAlone)

	floored := func(what, goal, floor, name string) line {
		l := alone(3, what, goal, duration, seconds)
		l.floor, l.floorName = of(floor, duration), name
		if goal != "" {
			l.reached = timesFloor(1.3)
		}
		return l
	}
	lines = append(lines, floored("cold start to synced, the engine alone", "≤ 1.3 × floor", "floor", "lists, bytes counted"),
		floored("… beside a floor that asks for gzip, as all others do", "", "gzip", "the same with gzip"))
	lines = append(lines, besides(3, []string{"≤ 1/5", "", "", "≤ 1/5", ""}, 1.0/5, duration, seconds)...)
	created := floored("view created to synced at a WebSocket subscriber, bin/manager", "", "floor", "lists, bytes counted")
	created.ours = of("manager", duration)
	ready := alone(3, "view created to Ready, bin/manager", "", duration, seconds)
	ready.ours = of("manager", func(s *sample) float64 { return s.Ready })
	used := alone(3, "processor time to synced, the engine alone", "", processor, seconds)
	used.floor, used.floorName = of("floor", processor), "lists, bytes counted"
	used.peer, used.peerName = of("informers", processor), peers[0].name
	return append(lines, created, ready, used)
}
