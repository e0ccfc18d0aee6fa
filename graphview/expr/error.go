package expr

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Reason is the kind of the text that is invalid. The values are the reasons of
// a view's Accepted condition.
type Reason string

// The reasons.
const (
	InvalidExpression Reason = "InvalidExpression"
	InvalidSelector   Reason = "InvalidSelector"
	InvalidJSONPath   Reason = "InvalidJSONPath"
)

// The maximum lengths of a user's text and of a parser's message in an error, in
// characters.
const (
	maxQuoted  = 200
	maxMessage = 400
)

// Error describes the fault of a text that a user wrote, and its position. It is the
// only type of error that the functions for compiling and parsing return, except
// for errors of the context and defects of this package.
type Error struct {
	Reason Reason
	// Path is the field that holds the text, such as
	// spec.queries[0].include.resourceSelectorExpression. Empty until At.
	Path string
	// Text is the user's text, in full.
	Text string
	// Line and Column count from 1, in characters; 0 when unknown.
	Line, Column int
	// Message describes the fault and the expected text.
	Message string
}

// At returns the error with the path of the field that holds the text.
func (e *Error) At(path string) *Error {
	at := *e
	at.Path = path
	return &at
}

// Error returns one line: the position, the message, and the text.
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

// quote returns at most maxQuoted characters of a text in quotes, as one printable line.
func quote(text string) string {
	cut := shorten(text, maxQuoted)
	if strconv.CanBackquote(cut) && strings.Contains(cut, `"`) {
		return "`" + cut + "`"
	}
	return strconv.Quote(cut)
}

// shorten truncates a text to a number of characters, and appends … if it did.
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

// oneLine makes a parser's message printable, and truncates it to maxMessage.
func oneLine(message string) string {
	return shorten(strings.TrimSpace(printable(message)), maxMessage)
}

// printable replaces characters that could forge a line of a log or a control
// sequence of a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// tooLong returns an error if a text is longer than MaxTextLength.
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

// invalidAt returns an Error at a node of an expression.
func invalidAt(source *ast.SourceInfo, node int64, text, message string) *Error {
	e := &Error{Reason: InvalidExpression, Text: text, Message: message}
	e.Line, e.Column = lineColumn(source.GetStartLocation(node))
	return e
}

// lineColumn returns the line and column of a location, from 1, or 0 if unknown.
func lineColumn(at common.Location) (line, column int) {
	if at.Line() <= 0 {
		return 0, 0
	}
	return at.Line(), at.Column() + 1
}

// offsetLineColumn returns the line and column of a byte offset in a text, both from 1
// and in characters.
func offsetLineColumn(text string, offset int) (line, column int) {
	before := text[:offset]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
}

// syntaxError returns the first of CEL's errors in the text, and how many more
// there are. The message about an unknown name lists the variables.
func syntaxError(text string, variables []string, found []*common.Error) *Error {
	first := slices.MinFunc(found, func(a, b *common.Error) int {
		return cmp.Or(
			cmp.Compare(a.Location.Line(), b.Location.Line()),
			cmp.Compare(a.Location.Column(), b.Location.Column()),
		)
	})
	e := &Error{
		Reason:  InvalidExpression,
		Text:    text,
		Message: oneLine(explain(printable(first.Message), variables)),
	}
	e.Line, e.Column = lineColumn(first.Location)
	if more := len(found) - 1; more == 1 {
		e.Message += " (and 1 more error)"
	} else if more > 1 {
		e.Message += fmt.Sprintf(" (and %d more errors)", more)
	}
	return e
}

var (
	celUndeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	celOverload   = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
	celExpecting  = regexp.MustCompile(` expecting (\{.*\}|<EOF>|\S+)$`)
)

// celLiterals translates CEL's messages about invalid constant arguments.
var celLiterals = map[string]string{
	"invalid matches argument":   "invalid regular expression; the syntax is RE2, with at most 1000 repetitions",
	"invalid duration argument":  "invalid duration; expected one such as '1h30m'",
	"invalid timestamp argument": "invalid timestamp; expected one such as '2026-01-31T12:00:00Z'",
}

// explain translates a message of CEL for users. It returns unknown messages
// unchanged, so that only style depends on CEL's wording.
func explain(message string, variables []string) string {
	message = strings.ReplaceAll(message, " (in container '')", "")
	message = strings.ReplaceAll(message, standInNamespace, reservedNamespace)
	if m := celUndeclared.FindStringSubmatch(message); m != nil {
		if len(variables) == 0 || strings.HasPrefix(m[1], "@") {
			return message
		}
		return fmt.Sprintf("unknown name or function '%s'; the variables are %s", m[1], list(variables))
	}
	if m := celOverload.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("%s cannot be applied to %s", callee(m[1]), m[2])
	}
	if syntax, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		// The set of expected tokens is half of the grammar.
		syntax = celExpecting.ReplaceAllString(syntax, "")
		if strings.Contains(syntax, "<EOF>") {
			syntax = "the expression ends too early"
		}
		for _, words := range []string{"token recognition error at: ", "extraneous input ", "mismatched input ", "no viable alternative at input "} {
			syntax = strings.Replace(syntax, words, "unexpected ", 1)
		}
		if strings.HasPrefix(syntax, "unexpected '= ") {
			syntax += "; == compares"
		}
		return "syntax error: " + syntax
	}
	if literal, ok := celLiterals[message]; ok {
		return literal
	}
	if strings.Contains(message, "recursion") {
		return fmt.Sprintf("expression nests too deeply; at most %d levels are allowed", maxNesting)
	}
	return message
}

// callee returns a function or an operator as users write it.
func callee(function string) string {
	if symbol, ok := operators.FindReverse(function); ok && symbol != "" {
		return "operator " + symbol
	}
	switch function {
	case operators.Index, operators.OptIndex:
		return "operator []"
	case operators.Conditional:
		return "operator ?:"
	}
	return function + "()"
}

// list joins names with commas and a final "and".
func list(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
