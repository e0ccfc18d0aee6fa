package expr

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/operators"
)

// syntaxError makes an Error of what CEL found: the first in the text, and how
// many more there are. The variables are those to suggest for unknown names.
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
	if first.Location.Line() > 0 {
		e.Line, e.Column = first.Location.Line(), first.Location.Column()+1
	}
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

// celLiterals are what CEL says about constants that a function cannot take.
var celLiterals = map[string]string{
	"invalid matches argument":   "invalid regular expression; the syntax is RE2, with at most 1000 repetitions",
	"invalid duration argument":  "invalid duration; expected one such as '1h30m'",
	"invalid timestamp argument": "invalid timestamp; expected one such as '2026-01-31T12:00:00Z'",
}

// explain says in words for users what CEL says in words for its authors. What
// it does not know stays as it is: nothing depends on CEL's wording but style.
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
		// The set of tokens that could follow is half of the grammar.
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

// callee names a function or an operator as users write it.
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

// list joins names as a sentence does.
func list(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
