package mine

import (
	"slices"
	"strings"
	"unicode"
)

// wordsOf cuts a name into words, in small letters.
func wordsOf(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	letters := []rune(name)
	for i, c := range letters {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush()
			continue
		case unicode.IsUpper(c) && i > 0 && (unicode.IsLower(letters[i-1]) || unicode.IsDigit(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])):
			flush()
		}
		word = append(word, c)
	}
	flush()
	return words
}

// generic are words of keys that say that there is a name, not of what.
var generic = map[string]bool{
	"name": true, "names": true, "ref": true, "refs": true, "reference": true, "references": true, "key": true, "object": true, "local": true,
	"selector": true, "from": true, "to": true, "list": true, "existing": true, "resource": true, "obj": true, "id": true,
}

// aliases are other words for Kubernetes' kinds.
var aliases = map[string]string{
	"pvc": "persistentvolumeclaim", "claim": "persistentvolumeclaim", "volumeclaim": "persistentvolumeclaim", "sa": "serviceaccount", "cm": "configmap",
	"credential": "secret", "credentials": "secret", "svc": "service", "hpa": "horizontalpodautoscaler",
}

// telling are the words of a key that say of what it has the name.
func telling(key string) []string {
	return slices.DeleteFunc(wordsOf(key), func(word string) bool { return generic[word] })
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "sses"):
		return strings.TrimSuffix(word, "es")
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return strings.TrimSuffix(word, "s")
	}
	return word
}

// degree is how well a key says a kind.
type degree int

const (
	none degree = iota
	// part: the kind's name ends with the key, or is somewhere in it.
	part
	// full: the key is the kind's name, or ends with it.
	full
)

// says tells how well the words of a key say a kind.
func says(words []string, d *definition) degree {
	if len(words) == 0 {
		return none
	}
	kind := strings.Join(d.words, "")
	last := slices.Clone(words)
	last[len(last)-1] = singular(last[len(last)-1])
	for i := range last {
		rest := strings.Join(last[i:], "")
		if rest == kind || d.builtin && aliases[rest] == kind {
			return full
		}
	}
	if whole := strings.Join(words, ""); whole == kind {
		return full
	}
	whole := strings.Join(last, "")
	for i := 1; i < len(d.words); i++ {
		if end := strings.Join(d.words[i:], ""); end == whole && len(end) >= 4 {
			return part
		}
	}
	for i := range words {
		for j := i + 1; j < len(words); j++ {
			if strings.Join(words[i:j], "") == kind && len(kind) >= 4 {
				return part
			}
		}
	}
	return none
}

// isName tells whether a text may be the name of an object.
func isName(text string) bool {
	if len(text) < 2 || len(text) > 253 || strings.Trim(text, "0123456789.-") == "" || text == "true" || text == "false" {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case (c == '-' || c == '.') && i > 0 && i < len(text)-1:
		default:
			return false
		}
	}
	return true
}
