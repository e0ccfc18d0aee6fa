package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Reason is the kind of text that is wrong. The values are the reasons of a
// view's Accepted condition.
type Reason string

// The reasons.
const (
	InvalidExpression Reason = "InvalidExpression"
	InvalidSelector   Reason = "InvalidSelector"
	InvalidJSONPath   Reason = "InvalidJSONPath"
)

// How much of a user's text, and of a parser's words, goes into a message, in
// characters.
const (
	maxQuoted  = 200
	maxMessage = 400
)

// Error is what is wrong with one text that a user wrote, and where. It is the
// only type of error that the compiling and parsing functions return, except
// for defects of this package itself.
type Error struct {
	Reason Reason
	// Path is the field that holds the text, such as
	// spec.queries[0].include.resourceSelectorExpression. Empty until At.
	Path string
	// Text is what the user wrote, in full.
	Text string
	// Line and Column count from 1, in characters; 0 when unknown.
	Line, Column int
	// Message says what is wrong and what was expected.
	Message string
}

// At is the error with the path of the field that holds the text.
func (e *Error) At(path string) *Error {
	at := *e
	at.Path = path
	return &at
}

// Error is one line: where, what is wrong, what was expected, and the text.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	b.WriteString(e.Message)
	if e.Text != "" {
		b.WriteString(": ")
		b.WriteString(quote(e.Text))
	}
	return b.String()
}

// quote makes one printable line of at most maxQuoted characters of a text.
func quote(text string) string {
	cut := shorten(text, maxQuoted)
	if strconv.CanBackquote(cut) && strings.Contains(cut, `"`) {
		return "`" + cut + "`"
	}
	return strconv.Quote(cut)
}

// shorten cuts a text to a number of characters.
func shorten(text string, limit int) string {
	// A character has at least one byte: short texts need no counting.
	if len(text) <= limit {
		return text
	}
	count := 0
	for i := range text {
		if count == limit {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

// oneLine makes a message out of a parser's words: short, and printable.
func oneLine(message string) string {
	return shorten(strings.TrimSpace(printable(message)), maxMessage)
}

// printable leaves nothing in a text that could forge another line of a log or
// a terminal's control sequence.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// tooLong is the error about a text beyond MaxTextLength, or nil.
func tooLong(reason Reason, what, text string) *Error {
	if len(text) <= MaxTextLength {
		return nil
	}
	return &Error{
		Reason:  reason,
		Text:    text,
		Message: fmt.Sprintf("%s of %d bytes is too long; at most %d are allowed", what, len(text), MaxTextLength),
	}
}

// position is the line and column, both from 1 and in characters, of a byte
// offset in a text.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
}
