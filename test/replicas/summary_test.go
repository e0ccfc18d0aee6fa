package replicas

import (
	"fmt"
	"io"
	"time"
)

// summary is what is said of all episodes when all tests have ended.
type summary struct {
	first    uint64 // seed
	all      tally
	troubles map[string]*tally
}

// tally is what became of some episodes.
type tally struct {
	episodes, failed          int
	resets, allowances, moves int
	longest, lasted           time.Duration
}

func (t *tally) add(o *tally) {
	t.episodes, t.failed = t.episodes+o.episodes, t.failed+o.failed
	t.resets, t.allowances, t.moves = t.resets+o.resets, t.allowances+o.allowances, t.moves+o.moves
	t.lasted, t.longest = t.lasted+o.lasted, max(t.longest, o.longest)
}

// played is nil if TestEpisodes did not run.
var played *summary

func newSummary(first uint64) *summary {
	return &summary{first: first, troubles: make(map[string]*tally)}
}

// note counts an episode, and says what it was.
func (s *summary) note(e *episode, number uint64, trouble string, ok bool, lasted time.Duration) {
	one := &tally{episodes: 1, resets: e.resets, allowances: e.allowances, moves: e.moves, longest: lasted, lasted: lasted}
	result := "ok"
	if !ok {
		result, one.failed = "FAILED", 1
	}
	if s.troubles[trouble] == nil {
		s.troubles[trouble] = &tally{}
	}
	s.troubles[trouble].add(one)
	s.all.add(one)
	fmt.Printf("episode %d: %s: %s; %d readers, %d resets of at most %d and %d by moves, %.1fs\n",
		number, result, e.what, len(e.readers), e.resets, e.allowances, e.moves, lasted.Seconds())
}

// write says it as a table.
func (s *summary) write(w io.Writer) {
	if s == nil {
		return
	}
	fmt.Fprintf(w, "\nreplicas: three replicas, one of which holds each view, seeds from %d\n", s.first)
	const row = "%-16s %8v %6v %7v %8v %6v %9v %9v\n"
	fmt.Fprintf(w, row, "trouble", "episodes", "FAILED", "resets", "at most", "moves", "mean", "longest")
	write := func(name string, of *tally) {
		if of == nil || of.episodes == 0 {
			return
		}
		fmt.Fprintf(w, row, name, of.episodes, of.failed, of.resets, of.allowances, of.moves,
			(of.lasted / time.Duration(of.episodes)).Round(100*time.Millisecond), of.longest.Round(100*time.Millisecond))
	}
	for i := range troubles {
		write(troubles[i].name, s.troubles[troubles[i].name])
	}
	write("all", &s.all)
}
