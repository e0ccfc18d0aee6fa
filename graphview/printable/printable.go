package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text replaces with U+FFFD each character that could end a line, control a terminal or change how
// other text is drawn: categories Cc, Cf, Zl and Zp, invalid UTF-8, and U+FFFE and U+FFFF (for XML).
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)
}
