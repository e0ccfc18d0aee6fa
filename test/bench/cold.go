package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// peers do the engine's work with objects, or a part of it. They have the name of the child
// process, and a name in the table.
var peers = []struct{ child, name string }{
	{"informers", "dynamic informers"},
	{"stripped", "the same without managedFields"},
	{"gitops", "gitops-engine cluster cache"},
}

// coldStart measures rows 1 and 3: a few rounds of each program, each in a separate process. The rounds of another
// commit come in between, so that a change of the machine meets both.
func coldStart(ctx context.Context, b *bench) []line {
	if b.samples["engine"] == nil {
		for round := range b.runs {
			b.coldRound(ctx, round)
			if b.other != nil {
				b.other.coldRound(ctx, round)
			}
		}
	}
	return b.coldLines()
}

// coldRound measures each program once.
func (b *bench) coldRound(ctx context.Context, round int) {
	names := []string{"floor", "gzip", "protobuf", "engine"}
	gitops := ""
	if !b.alone {
		gitops = buildGitOps(ctx, b.root)
		for _, peer := range peers {
			names = append(names, peer.child)
		}
	}
	for _, name := range names {
		t := task{Name: name, Settle: b.settle}
		if name == "gitops" {
			t.Program = gitops
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

// buildGitOps compiles Argo CD's cluster cache, which is a module of its own,
// and returns the program's path. With a warm build cache it takes a second.
func buildGitOps(ctx context.Context, root string) (path string) {
	path = filepath.Join(root, "bin", "bench", "gitops")
	fmt.Fprintln(os.Stderr, "compiling the gitops-engine peer; the first time takes some minutes")
	compile(ctx, filepath.Join(root, "test", "bench", "gitops"), ".", path)
	return path
}

// note keeps a sample and prints it.
func (b *bench) note(round int, name string, s *sample) {
	b.samples[name] = append(b.samples[name], *s)
	fmt.Fprintf(os.Stderr, "round %d of %d: %s: %.2f s, of processor time %.2f s, %d MB resident\n",
		round+1, b.runs, name, s.Seconds, s.Processor, s.Resident/1e6)
}

// listed returns the number of bytes that the floor has read, 0 if it was not measured.
func (b *bench) listed() float64 {
	if len(b.samples["floor"]) == 0 {
		return 0
	}
	return spreadOf(b.samples["floor"], func(s *sample) float64 { return float64(s.Bytes) }).median()
}

// coldLines returns the lines of rows 1 and 3.
func (b *bench) coldLines() []line {
	of := func(name string, value func(*sample) float64) spread { return spreadOf(b.samples[name], value) }
	duration := func(s *sample) float64 { return s.Seconds }
	processor := func(s *sample) float64 { return s.Processor }
	heap := func(s *sample) float64 { return float64(s.Heap) / float64(s.Objects) }
	resident := func(s *sample) float64 { return float64(s.Resident) }

	alone := func(row int, what, goal string, value func(*sample) float64, format func(float64) string) line {
		return line{row: row, what: what, goal: goal, ours: of("engine", value), format: format}
	}
	beside := func(row int, goals []string, part float64, value func(*sample) float64, format func(float64) string) (lines []line) {
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
	lines := append([]line{heaps}, beside(1, []string{"≤ 1/15", "", ""}, 1.0/15, heap, kilobytes)...)
	settled := alone(1, "resident, bin/manager with a subscriber", "≤ 250 MB", resident, megabytes)
	settled.ours, settled.reached = of("manager", resident), within(250e6)
	settled.peer, settled.peerName = of("informers", resident), peers[0].name
	before := alone(1, "… of that before there was a view", "", resident, megabytes)
	before.ours = of("manager", func(s *sample) float64 { return float64(s.Idle) })
	lines = append(lines, settled, before)

	floored := func(what, goal, floor, name string) line {
		l := alone(3, what, goal, duration, seconds)
		l.floor, l.floorName = of(floor, duration), name
		if goal != "" {
			l.reached = timesFloor(1.3)
		}
		return l
	}
	lines = append(lines, floored("cold start to synced, the engine alone", "≤ 1.3 × floor", "floor", "lists, bytes counted"),
		floored("… beside a floor that asks for gzip, as all others do", "", "gzip", "the same with gzip"),
		floored("… and for Protobuf, as the engine does", "", "protobuf", "the same in Protobuf"))
	lines = append(lines, beside(3, []string{"≤ 1/5", "", "≤ 1/5"}, 1.0/5, duration, seconds)...)
	created := floored("view created to synced at a WebSocket subscriber, bin/manager", "", "floor", "lists, bytes counted")
	created.ours = of("manager", duration)
	used := alone(3, "processor time to synced, the engine alone", "", processor, seconds)
	used.floor, used.floorName = of("floor", processor), "lists, bytes counted"
	used.peer, used.peerName = of("informers", processor), peers[0].name
	encoded := used
	encoded.what, encoded.floor, encoded.floorName = "… beside a floor in Protobuf with gzip", of("protobuf", processor), "the same in Protobuf"
	return append(lines, created, used, encoded)
}
