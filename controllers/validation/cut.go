package validation

import (
	"strings"
	"unicode/utf8"
)

// Cut bounds s to limit characters, as a CustomResourceDefinition counts
// them, and makes it valid UTF-8, which the API server insists on.
func Cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	kept := 0
	for i := range s {
		if kept == limit-1 {
			return s[:i] + "…"
		}
		kept++
	}
	return s
}
