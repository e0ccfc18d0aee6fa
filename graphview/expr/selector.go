package expr

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	labelSyntax = "expected requirements such as app=web, tier!=cache, env in (a, b), gpu or !legacy, joined by commas"
	fieldSyntax = "expected field=value, field==value or field!=value, joined by commas"
)

// ParseLabelSelector parses the syntax of kubectl -l. An empty text selects
// everything. The error is an *Error.
func ParseLabelSelector(text string) (labels.Selector, error) {
	if err := tooLong(InvalidSelector, "label selector", text); err != nil {
		return nil, err
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, labelSelectorError(text, err)
	}
	return selector, nil
}

// ParseFieldSelector parses the syntax of kubectl --field-selector. An empty
// text selects everything. Only the API server knows which fields exist. The
// error is an *Error.
func ParseFieldSelector(text string) (fields.Selector, error) {
	if err := tooLong(InvalidSelector, "field selector", text); err != nil {
		return nil, err
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil, fieldSelectorError(text, err)
	}
	for _, requirement := range selector.Requirements() {
		// The parser accepts "=x".
		if strings.TrimSpace(requirement.Field) == "" {
			return nil, &Error{Reason: InvalidSelector, Text: text, Message: "field selector has no field before an operator; " + fieldSyntax}
		}
	}
	return selector, nil
}

var (
	selectorFound = regexp.MustCompile(`found '(.*)',? expected`)
	selectorValue = regexp.MustCompile(`Invalid value: "((?:[^"\\]|\\.)*)"`)
	// selectorPattern is a part of the error that repeats the sentence before it.
	selectorPattern = regexp.MustCompile(`,? ?regex used for validation is '[^']*'`)
	fieldTerm       = regexp.MustCompile(`can't understand '(.*)'$`)
)

func labelSelectorError(text string, err error) *Error {
	message := strings.TrimPrefix(err.Error(), "unable to parse requirement: ")
	message = strings.ReplaceAll(strings.TrimPrefix(message, "<nil>: "), "found ''", "found the end")
	message = selectorPattern.ReplaceAllString(message, "")
	fragment := ""
	if m := selectorFound.FindStringSubmatch(message); m != nil {
		fragment = m[1]
	} else if m := selectorValue.FindStringSubmatch(message); m != nil {
		fragment = m[1]
	}
	e := &Error{
		Reason: InvalidSelector, Text: text,
		Message: fmt.Sprintf("invalid label selector: %s; %s", oneLine(message), labelSyntax),
	}
	e.Line, e.Column = locate(text, fragment)
	return e
}

func fieldSelectorError(text string, err error) *Error {
	message, fragment := oneLine(strings.TrimPrefix(err.Error(), "invalid field selector: ")), ""
	// The parser's message repeats the whole selector.
	if m := fieldTerm.FindStringSubmatch(err.Error()); m != nil {
		fragment = m[1]
		message = oneLine("cannot understand '" + shorten(fragment, maxQuoted) + "'")
	}
	e := &Error{
		Reason: InvalidSelector, Text: text,
		Message: fmt.Sprintf("invalid field selector: %s; %s", message, fieldSyntax),
	}
	e.Line, e.Column = locate(text, fragment)
	return e
}
