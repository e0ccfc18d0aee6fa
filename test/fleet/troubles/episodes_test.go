package troubles

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/document"
	"graphview.dev/test/patience"
)

var (
	episodes = flag.Int("episodes", 4, "how many episodes TestEpisodes runs")
	first    = flag.Uint64("seed", 0, "the seed of the first episode; each has the next one")
	long     = flag.Bool("long", false, "also run the troubles that take half a minute and more")
)

// pings is when an unanswered ping is noticed at the latest: 15 s until the next one, and 10 s for its answer.
const pings = 25 * time.Second

// TestEpisodes: while something in a fleet is broken, no subscriber is told a final word, none is reset unless
// the only process with the view has ended, none of another member notices, and none is told that it is
// current for longer than pings take. In the end all graphs equal fresh lists of their members.
func TestEpisodes(t *testing.T) {
	f := startFleet(t)
	if why := f.level(t.Context()); why != "" {
		t.Fatal(why)
	}
	var all []trouble
	for _, one := range troubles {
		if !one.long || *long {
			all = append(all, one)
		}
	}
	rows := [][]string{{"seed", "trouble", "resets", "of others", "away", "told current", "level after", "final words", "load", "wrong"}}
	for seed := *first; seed < *first+uint64(*episodes); seed++ {
		one := all[seed%uint64(len(all))]
		row, wrong := f.run(t.Context(), seed, &one)
		rows = append(rows, row)
		t.Log(strings.Join(row, " · "))
		for _, what := range wrong {
			t.Errorf("seed %d, %s: %s", seed, one.name, what)
		}
		if t.Context().Err() != nil || slices.ContainsFunc(wrong, func(what string) bool { return strings.HasPrefix(what, "not level") }) {
			break // a fleet that is broken is no place for the next episode
		}
	}
	fmt.Print(document.Table(rows))
}

// run runs one episode, and returns its row and what was wrong.
func (f *fleet) run(ctx context.Context, seed uint64, one *trouble) (row, wrong []string) {
	for _, m := range f.members {
		for _, follower := range m.all {
			follower.begin()
		}
	}
	written := f.members[0].writer.written()
	e := &episode{fleet: f, random: rand.New(rand.NewPCG(seed, 0))}
	if err := one.happen(ctx, e); err != nil {
		wrong = append(wrong, err.Error())
	}
	healed := time.Now()
	if why := f.level(ctx); why != "" {
		wrong = append(wrong, "not level: "+why)
	}
	level := time.Since(healed)
	if f.members[0].writer.written() == written {
		wrong = append(wrong, "nothing was changed")
	}
	var resets [2]int
	var away, stale time.Duration
	final := make(map[string]int)
	for i, m := range f.members {
		for _, follower := range m.all {
			n, t, words := follower.seen()
			resets[i] += n
			away, stale = max(away, t.away), max(stale, t.stale)
			for word, times := range words {
				final[word] += times
			}
		}
	}
	if resets[0] > 0 && !one.resets {
		wrong = append(wrong, fmt.Sprintf("%d resets", resets[0]))
	}
	if resets[1] > 0 {
		wrong = append(wrong, fmt.Sprintf("%d resets of subscribers of the other member", resets[1]))
	}
	limit := lateAfter
	if one.silent {
		limit += pings
	}
	if stale > patience.For(limit) {
		wrong = append(wrong, fmt.Sprintf("told current for %v without a change that was stored", stale))
	}
	words := make([]string, 0, len(final))
	for _, word := range slices.Sorted(maps.Keys(final)) {
		words = append(words, fmt.Sprintf("%d × %s", final[word], word))
	}
	if len(words) > 0 {
		wrong = append(wrong, "final words: "+strings.Join(words, "; "))
	}
	return []string{
		fmt.Sprint(seed), one.name, fmt.Sprintf("%d of %d", resets[0], len(f.members[0].all)), fmt.Sprint(resets[1]), round(away), round(stale), round(level),
		strings.ReplaceAll(strings.Join(words, "; "), "|", "/"), busy(), fmt.Sprint(len(wrong)),
	}, wrong
}

func round(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

// busy is the load of the machine, without which times mean little.
func busy() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	now, _, _ := strings.Cut(string(text), " ")
	return now
}
