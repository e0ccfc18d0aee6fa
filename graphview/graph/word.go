package graph

import "strings"

// MaxWord is how long a word of WithWord is at most.
const MaxWord = 32

// wordMark begins a word in a field. No path contains it: package refs neither makes nor
// takes a path with control characters.
const wordMark = "\x00"

// WithWord is a Reference's Field that says in a word what the reference means.
func WithWord(path, word string) string {
	if word == "" {
		return path
	}
	return path + wordMark + word
}

// CutWord is the inverse of WithWord.
func CutWord(field string) (path, word string) {
	path, word, _ = strings.Cut(field, wordMark)
	return path, word
}
