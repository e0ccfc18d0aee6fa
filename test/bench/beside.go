package main

import (
	"context"
	"path/filepath"
)

// besideOf returns the bench of another commit, with programs compiled in its directory. It has the control plane, the floors and
// the clients of this bench, and leaves out the peers.
func (b *bench) besideOf(ctx context.Context) *bench {
	other := *b
	other.alone, other.root, other.samples = true, b.beside, map[string][]sample{}
	other.managers = newManagers(ctx, b.plane, b.beside, "manager-beside", b.settle)
	other.engine = filepath.Join(b.plane.Dir(), "bench-beside")
	compile(ctx, b.beside, "./test/bench", other.engine)
	return &other
}

// compared returns lines, each followed by the line of another commit with the same measure as its peer. If the commits
// have different numbers of lines, because a measure failed or changed, those of the other commit come last.
func compared(lines, others []line, name string) (all []line) {
	if len(lines) != len(others) {
		return append(lines, others...)
	}
	for i := range lines {
		all = append(all, lines[i], line{
			row: lines[i].row, what: "… beside it", ours: lines[i].ours, peer: others[i].ours, peerName: name, format: lines[i].format,
		})
	}
	return all
}
