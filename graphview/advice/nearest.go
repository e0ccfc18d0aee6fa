package advice

import (
	"cmp"
	"slices"
	"strings"
)

// maxCompared is the longest name that is compared letter by letter.
const maxCompared = 63

// Nearest are the names that the author of name may have meant, the likeliest
// first, at most so many. A name and its beginning are alike, as are names in which
// a third of the letters differ, or two.
func Nearest(name string, others []string, most int) []string {
	lower := strings.ToLower(name)
	distances := map[string]int{}
	for _, other := range others {
		candidate := strings.ToLower(other)
		if other == "" || name == "" || len(name) > maxCompared || len(other) > maxCompared {
			continue
		}
		d := distance(lower, candidate)
		if strings.HasPrefix(candidate, lower) || strings.HasPrefix(lower, candidate) {
			d = min(d, 2)
		}
		if d <= max(2, len(name)/3) && d < len(name) {
			distances[other] = d
		}
	}
	names := make([]string, 0, len(distances))
	for other := range distances {
		names = append(names, other)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	return names[:min(len(names), most)]
}

// distance is how many letters have to be changed, added, removed or swapped with
// their neighbour to make a of b (Damerau and Levenshtein, without edits of what was
// swapped).
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
