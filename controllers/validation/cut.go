package validation

import (
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// Cut bounds s to limit bytes at the boundary of a character, and makes it valid UTF-8, which the API
// server insists on. A CustomResourceDefinition counts characters, and no text has more of these than bytes.
func Cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	end := limit - len(ellipsis)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
