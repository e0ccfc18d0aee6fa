package faults

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// summary is what is said when all tests have ended.
type summary struct {
	first            uint64 // seed
	episodes, failed int
	lasted           time.Duration
	sorts            map[string]int
	expired          int
	etcdPauses       int64
}

// played is nil if TestFaults did not run.
var played *summary

// note counts an episode.
func (s *summary) note(troubles []trouble, err error) {
	s.episodes++
	if err != nil {
		s.failed++
	}
	for _, t := range troubles {
		s.sorts[t.sort]++
	}
}

// write says it in two lines, the second with how often each sort of trouble
// came.
func (s *summary) write(w io.Writer) {
	if s == nil || s.episodes == 0 {
		return
	}
	fmt.Fprintf(w, "faults: %d episodes, seeds %d to %d, in %s: %d ok, %d FAILED; etcd stood still %d times, the API server ended %d watches because their position was gone\n",
		s.episodes, s.first, s.first+uint64(s.episodes)-1, s.lasted.Round(time.Second), s.episodes-s.failed, s.failed, s.etcdPauses, s.expired)
	names := slices.SortedFunc(maps.Keys(s.sorts), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.sorts[b], s.sorts[a]), cmp.Compare(a, b))
	})
	fmt.Fprint(w, "faults:")
	for i, name := range names {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %s %d", name, s.sorts[name])
	}
	fmt.Fprintln(w)
}
