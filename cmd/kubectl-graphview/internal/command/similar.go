package command

import (
	"fmt"
	"strings"

	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/printable"
)

// mostSimilar is the number of names in a suggestion.
const mostSimilar = 3

// didYouMean returns the end of a sentence about an unknown name, "" without a similar
// name.
func didYouMean(name string, others []string, write func(string) string) string {
	var words []string
	for _, other := range advice.Nearest(name, others, mostSimilar) {
		words = append(words, printable.Text(write(other)))
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
