package replicas

import (
	"fmt"
	"io"
	"time"
)

// summary is what is said of all episodes when all tests have ended.
type summary struct {
	first    uint64 // seed
	failed   int
	troubles map[string]*tally
}

// tally is what became of one trouble's episodes.
type tally struct {
	episodes, failed   int
	resets, allowances int
	moves              int
	longest, lasted    time.Duration
}

// played is nil if TestEpisodes did not run.
var played *summary

func newSummary(first uint64) *summary {
	return &summary{first: first, troubles: make(map[string]*tally)}
}

// note counts an episode, and says what it was.
func (s *summary) note(e *episode, number uint64, trouble string, ok bool, lasted time.Duration) {
	of := s.troubles[trouble]
	if of == nil {
		of = &tally{}
		s.troubles[trouble] = of
	}
	result := "ok"
	if !ok {
		result = "FAILED"
		s.failed++
		of.failed++
	}
	of.episodes++
	of.resets, of.allowances, of.moves = of.resets+e.resets, of.allowances+e.allowances, of.moves+e.moves
	of.lasted, of.longest = of.lasted+lasted, max(of.longest, lasted)
	fmt.Printf("episode %d: %s: %s; %d readers, %d resets of at most %d and %d by moves, %.1fs\n",
		number, result, e.what, len(e.readers), e.resets, e.allowances, e.moves, lasted.Seconds())
}

// write says it as a table.
func (s *summary) write(w io.Writer) {
	if s == nil {
		return
	}
	var all tally
	fmt.Fprintf(w, "\nreplicas: three replicas, one of which holds each view, seeds from %d\n", s.first)
	const row = "%-16s %8v %6v %7v %8v %6v %9v %9v\n"
	fmt.Fprintf(w, row, "trouble", "episodes", "FAILED", "resets", "at most", "moves", "mean", "longest")
	write := func(name string, of *tally) {
		fmt.Fprintf(w, row, name, of.episodes, of.failed, of.resets, of.allowances, of.moves,
			(of.lasted / time.Duration(of.episodes)).Round(100*time.Millisecond), of.longest.Round(100*time.Millisecond))
	}
	for i := range troubles {
		of := s.troubles[troubles[i].name]
		if of == nil {
			continue
		}
		write(troubles[i].name, of)
		all.episodes, all.failed = all.episodes+of.episodes, all.failed+of.failed
		all.resets, all.allowances, all.moves = all.resets+of.resets, all.allowances+of.allowances, all.moves+of.moves
		all.lasted, all.longest = all.lasted+of.lasted, max(all.longest, of.longest)
	}
	if all.episodes > 0 {
		write("all", &all)
	}
}
