package expr

import "strings"

// CEL reserves the word namespace, which is a variable here. Where an expression
// uses it as a name, unreserve replaces it by another name. Both names have the
// same length, so that the positions in errors stay the same.
const (
	reservedNamespace = varNamespace
	standInNamespace  = "__ns_var_"
)

// unreserve replaces namespace where it is a name: not in strings and comments,
// and not as a field, which CEL allows.
func unreserve(text string) string {
	if !strings.Contains(text, reservedNamespace) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		end := tokenEnd(text, i)
		token := text[i:end]
		if token == reservedNamespace && !isField(text[:i]) {
			token = standInNamespace
		}
		b.WriteString(token)
		i = end
	}
	return b.String()
}

// isField reports whether a word after this text is a field, as in obj.namespace
// or obj.?namespace.
func isField(before string) bool {
	before = strings.TrimRight(before, " \t\r\n\f")
	return strings.HasSuffix(before, ".") || strings.HasSuffix(before, ".?")
}

// tokenEnd returns the end of the string, comment, word or other byte that begins
// at an offset.
func tokenEnd(text string, start int) int {
	rest := text[start:]
	if strings.HasPrefix(rest, "//") {
		if newline := strings.IndexByte(rest, '\n'); newline >= 0 {
			return start + newline
		}
		return len(text)
	}
	word := 0
	for word < len(rest) && isWord(rest[word]) {
		word++
	}
	if word < len(rest) && (rest[word] == '\'' || rest[word] == '"') && isStringPrefix(rest[:word]) {
		return stringEnd(text, start+word, strings.ContainsAny(rest[:word], "rR"))
	}
	return start + max(word, 1)
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isStringPrefix(word string) bool {
	switch strings.ToLower(word) {
	case "", "r", "b", "rb", "br":
		return true
	}
	return false
}

// stringEnd returns the end of the string whose first quote is at an offset, or
// the end of the text if the string is not closed.
func stringEnd(text string, start int, raw bool) int {
	quote := text[start : start+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[start:], triple) {
		quote = triple
	}
	for i := start + len(quote); i < len(text); i++ {
		if text[i] == '\\' && !raw {
			i++
			continue
		}
		if strings.HasPrefix(text[i:], quote) {
			return i + len(quote)
		}
	}
	return len(text)
}
