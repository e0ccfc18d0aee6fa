package helm

import "container/heap"

// rank orders revisions of a release by status.
type rank uint8

const (
	unranked    rank = iota // neither deployed nor pending, or not known
	rankPending             // about to be deployed
	rankDeployed
	numberOfRanks
)

// currentRank returns the rank that follows from the objects of the watches.
func (at *revision[W]) currentRank() rank {
	switch m := at.latest(); {
	case m == nil || at.endedSince(m):
	case m.Deployed:
		return rankDeployed
	case m.Pending:
		return rankPending
	}
	return unranked
}

// refile moves a changed revision to its rank, and removes it if no watch has it any more. It
// takes logarithmic time, because a tenant can label any number of Secrets as deployed.
func (r *release[W]) refile(at *revision[W]) {
	if now := at.currentRank(); now != at.rank {
		if at.rank != unranked {
			heap.Remove(&r.ranks[at.rank], at.place)
		}
		if at.rank = now; now != unranked {
			heap.Push(&r.ranks[now], at)
		}
	}
	if len(at.objects)+len(at.managed) == 0 {
		delete(r.revisions, at.number)
	}
}

// newest returns the newest deployed revision or, without one, the newest pending revision;
// nil if there is neither.
func (r *release[W]) newest() *revision[W] {
	for _, first := range [...]rank{rankDeployed, rankPending} {
		if ranked := r.ranks[first]; len(ranked) > 0 {
			return ranked[0]
		}
	}
	return nil
}

// newestFirst is a heap of revisions.
type newestFirst[W comparable] []*revision[W]

func (h *newestFirst[W]) Len() int           { return len(*h) }
func (h *newestFirst[W]) Less(i, j int) bool { return (*h)[i].number > (*h)[j].number }

func (h *newestFirst[W]) Swap(i, j int) {
	(*h)[i], (*h)[j] = (*h)[j], (*h)[i]
	(*h)[i].place, (*h)[j].place = i, j
}

// Push appends a *revision, for package heap.
func (h *newestFirst[W]) Push(at any) {
	r := at.(*revision[W]) //nolint:forcetypeassert // refile pushes nothing else
	r.place = len(*h)
	*h = append(*h, r)
}

// Pop removes the last element, for package heap.
func (h *newestFirst[W]) Pop() any {
	n := len(*h) - 1
	last := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return last
}
