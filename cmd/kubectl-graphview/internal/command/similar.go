package command

import (
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
	if len(words) == 0 {
		return ""
	}
	return "; did you mean " + eitherOf(words) + "?"
}

// eitherOf joins alternatives: a, b or c.
func eitherOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
