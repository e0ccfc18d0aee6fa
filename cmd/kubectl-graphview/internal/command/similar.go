package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostSimilar is how many names are offered.
const mostSimilar = 3

// didYouMean is the end of a sentence about a name that is not known, "" where
// nothing is like it.
func didYouMean(name string, others []string, write func(string) string) string {
	var words []string
	for _, other := range similar(name, others) {
		words = append(words, write(other))
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "; did you mean " + words[0] + "?"
	default:
		return fmt.Sprintf("; did you mean %s or %s?", strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
	}
}

// similar are the names that somebody who wrote name may have meant, the likeliest
// first.
func similar(name string, others []string) []string {
	distances := map[string]int{}
	for _, other := range others {
		d := distance(name, other)
		if strings.HasPrefix(other, name) || strings.HasPrefix(name, other) {
			d = min(d, 2)
		}
		if d <= max(2, len(name)/3) {
			distances[other] = d
		}
	}
	var names []string
	for other := range distances {
		names = append(names, other)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	return names[:min(len(names), mostSimilar)]
}

// distance is how many bytes have to be changed, added or removed to make a of
// b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
