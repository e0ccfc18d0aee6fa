package graphview

import "container/heap"

// rank is what a revision of a release is, as far as it matters for which one
// refers to what the release manages.
type rank uint8

const (
	unranked    rank = iota // neither of the others, or nobody has told
	rankPending             // about to be deployed
	rankDeployed
	numberOfRanks
)

// currentRank is the revision's, of what its watches know now.
func (r *releaseSecret) currentRank() rank {
	switch m := r.latest(); {
	case m == nil || r.ended(m):
	case m.deployed:
		return rankDeployed
	case m.pending:
		return rankPending
	}
	return unranked
}

// file puts a revision where it belongs by what it is now. Anybody can label very many
// as deployed, so this takes no longer than the logarithm of how many there are.
func (r *release) file(at *releaseSecret) {
	now := at.currentRank()
	if now == at.rank {
		return
	}
	if at.rank != unranked {
		heap.Remove(&r.ranks[at.rank], at.place)
	}
	if at.rank = now; now != unranked {
		heap.Push(&r.ranks[now], at)
	}
}

// newest is the newest revision of the release that is deployed, else the newest that
// is about to be, nil if there is neither.
func (r *release) newest() *releaseSecret {
	for _, first := range [...]rank{rankDeployed, rankPending} {
		if ranked := r.ranks[first]; len(ranked) > 0 {
			return ranked[0]
		}
	}
	return nil
}

// newestFirst is a heap of revisions.
type newestFirst []*releaseSecret

func (h *newestFirst) Len() int           { return len(*h) }
func (h *newestFirst) Less(i, j int) bool { return (*h)[i].number > (*h)[j].number }

func (h *newestFirst) Swap(i, j int) {
	(*h)[i], (*h)[j] = (*h)[j], (*h)[i]
	(*h)[i].place, (*h)[j].place = i, j
}

// Push adds a *releaseSecret at the end, for package heap.
func (h *newestFirst) Push(at any) {
	r := at.(*releaseSecret) //nolint:forcetypeassert // rank pushes nothing else
	r.place = len(*h)
	*h = append(*h, r)
}

// Pop takes the last away, for package heap.
func (h *newestFirst) Pop() any {
	n := len(*h) - 1
	last := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return last
}
