package main

import (
	"context"
	"path/filepath"
)

// other returns the bench of another commit, with programs compiled in its directory. It has the control plane of this bench, and
// leaves out the peers.
func (b *bench) other(ctx context.Context) *bench {
	other := *b
	other.alone, other.root, other.samples = true, b.beside, map[string][]sample{}
	other.managers = newManagers(ctx, b.plane, b.beside, "manager-beside", b.settle)
	other.program = filepath.Join(b.plane.Dir(), "bench-beside")
	compile(ctx, b.beside, "./test/bench", other.program)
	return &other
}

// compared returns lines, and after each of them one that has the same measure of another commit in the place of a peer. Lines of
// different numbers, of a measure that failed or that the other commit makes in another way, follow each other.
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
