package admission

import (
	"golang.org/x/sync/semaphore"

	"graphview.dev/graphview/budget"
)

const (
	// ExportRoom is the number of vertices and arcs that all exports may have at the same time, which is some
	// 200 MB: an export is sorted, so the whole graph is in memory. A larger graph is
	// exported alone.
	ExportRoom = 1 << 20
	// minExport is the least that an export takes of the room, so that at most four are
	// assembled at once. Each takes seconds of a core.
	minExport = ExportRoom / 4
)

// userExports bounds the exports of one owner that wait for room.
var userExports = budget.Declare("exports_per_user", "exports at once of one user, or of the ServiceAccounts of one namespace", 4)

// Exports bounds graphs that are assembled as a whole.
type Exports struct {
	// Room has ExportRoom vertices and arcs.
	Room *semaphore.Weighted
	// Owners counts exports by owner.
	Owners *budget.Shares[budget.Owner]
}

// NewExports returns Exports with all room free.
func NewExports() *Exports {
	return &Exports{Room: semaphore.NewWeighted(ExportRoom), Owners: budget.NewShares[budget.Owner](userExports)}
}

// ExportSize returns the room that a graph takes.
func ExportSize(vertices, arcs int) int64 {
	return min(max(int64(vertices+arcs), minExport), ExportRoom)
}
