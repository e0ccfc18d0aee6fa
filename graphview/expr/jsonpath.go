package expr

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/client-go/util/jsonpath"

	"graphview.dev/graphview/jsontree"
)

// JSONPath is a parsed JSONPath template.
type JSONPath struct {
	actions []action
	shape   *jsontree.Shape // the parts of an object that the actions read
}

// action is one pair of braces of a template, or the text between two pairs.
type action struct {
	path *jsonpath.ListNode
	// body has the actions between a {range} and its {end}, which run for each
	// node that the path finds; nil for other actions.
	body []action
	// each is true for a {range}, whose body may be empty.
	each bool
}

// ParseJSONPath parses a template as kubectl's -o jsonpath does, or a single
// path without braces, with or without the first dot. The error is an *Error.
//
// Only the parser is that of client-go. Its evaluator keeps state between calls,
// returns the members of maps in random order, and puts values into errors.
func ParseJSONPath(text string) (*JSONPath, error) {
	if strings.TrimSpace(text) == "" {
		return nil, &Error{Reason: InvalidJSONPath, Text: text, Message: "JSONPath is empty; expected a path such as {.status}"}
	}
	if err := tooLong(InvalidJSONPath, "JSONPath", text); err != nil {
		return nil, err
	}
	root, err := parseTemplate(template(text))
	if err != nil {
		return nil, jsonPathError(text, err)
	}
	actions, rest, err := group(root.Nodes, false)
	if err == nil && len(rest) > 0 {
		err = errors.New("{end} without {range} before it")
	}
	if err != nil {
		return nil, jsonPathError(text, err)
	}
	p := &JSONPath{actions: actions, shape: new(jsontree.Shape)}
	for _, a := range actions {
		read(p.shape, a.path) // the body of a {range} reads no more
	}
	return p, nil
}

// read adds the part of an object that a path reads to a shape: the value to which its first fields lead.
func read(shape *jsontree.Shape, path *jsonpath.ListNode) {
	for _, node := range path.Nodes {
		field, ok := node.(*jsonpath.FieldNode)
		if !ok || field.Value == "" {
			break
		}
		shape = shape.Field(field.Value)
	}
	shape.Whole()
}

// parseTemplate returns an error if the parser panics: the parser does not check
// all indices, and users may write any text.
func parseTemplate(text string) (root *jsonpath.ListNode, err error) {
	defer func() {
		if recover() != nil {
			root, err = nil, errors.New("the syntax is not that of a JSONPath")
		}
	}()
	parser, err := jsonpath.Parse("", text)
	if err != nil {
		return nil, err
	}
	return parser.Root, nil
}

// template adds the braces and the first dot to a single path. kubectl accepts a
// path without them, the parser does not.
func template(text string) string {
	path, single := strings.TrimSpace(text), true
	if inner, ok := strings.CutPrefix(path, "{"); ok {
		inner, ok = strings.CutSuffix(inner, "}")
		if !ok || strings.ContainsAny(inner, "{}") {
			return text
		}
		path = strings.TrimSpace(inner)
	} else {
		single = !strings.ContainsAny(path, "{}")
	}
	if !single {
		return text
	}
	word := path
	if end := strings.IndexFunc(path, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}); end >= 0 {
		word = path[:end]
	}
	first, _ := utf8.DecodeRuneInString(word)
	if word != "" && !unicode.IsDigit(first) && word != "range" && word != "end" {
		path = "." + path
	}
	return "{" + path + "}"
}

// group matches each {range} with its {end}, and makes the checks that the parser
// does not make. If within a {range}, rest begins after its {end}.
func group(nodes []jsonpath.Node, within bool) (actions []action, rest []jsonpath.Node, err error) {
	for len(nodes) > 0 {
		path, ok := nodes[0].(*jsonpath.ListNode)
		if !ok {
			path = &jsonpath.ListNode{Nodes: nodes[:1]}
		}
		keyword := ""
		if len(path.Nodes) > 0 {
			if identifier, ok := path.Nodes[0].(*jsonpath.IdentifierNode); ok {
				keyword = identifier.Name
				path = &jsonpath.ListNode{Nodes: path.Nodes[1:]}
			}
		}
		next := action{path: path, each: keyword == "range"}
		switch keyword {
		case "", "range":
		case "end":
			if !within || len(path.Nodes) > 0 {
				return actions, nodes, nil
			}
			return actions, nodes[1:], nil
		default:
			return nil, nil, fmt.Errorf("unknown keyword '%s'; expected a path such as .status, range or end", keyword)
		}
		if err := check(path); err != nil {
			return nil, nil, err
		}
		nodes = nodes[1:]
		if next.each {
			if next.body, nodes, err = group(nodes, true); err != nil {
				return nil, nil, err
			}
		}
		actions = append(actions, next)
	}
	if within {
		return nil, nil, errors.New("{range} without {end} after it")
	}
	return actions, nil, nil
}

var filterOperators = []string{"exists", "==", "!=", "<", "<=", ">", ">="}

// check returns an error if the path would fail on every object.
func check(path *jsonpath.ListNode) error {
	for _, node := range path.Nodes {
		var parts []*jsonpath.ListNode
		switch node := node.(type) {
		case *jsonpath.IdentifierNode:
			return fmt.Errorf("unknown name '%s'; expected .%[1]s for a field, or '%[1]s' in quotes for text", node.Name)
		case *jsonpath.ArrayNode:
			if step := node.Params[2]; step.Known && step.Value <= 0 {
				return errors.New("the step of a slice must be greater than 0")
			}
		case *jsonpath.UnionNode:
			parts = node.Nodes
		case *jsonpath.FilterNode:
			if !slices.Contains(filterOperators, node.Operator) {
				return fmt.Errorf("unknown operator '%s' in a filter; expected ==, !=, <, <=, > or >=", node.Operator)
			}
			parts = []*jsonpath.ListNode{node.Left, node.Right}
		}
		for _, part := range parts {
			if err := check(part); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	jsonPathCharacter = regexp.MustCompile(`^unrecognized character in action: \S+ '(.+)'$`)
	jsonPathFragment  = regexp.MustCompile(`^(?:invalid array index|cannot parse number|array index|unquote string|unknown (?:keyword|name|operator)) '?([^';]+?)(?:'.*| is not a number| error .*)?$`)
)

// jsonPathMessages translates the parser's messages for users.
var jsonPathMessages = map[string]string{
	"unclosed action":                    "a '{' is not closed; expected '}'",
	"unterminated array":                 "a '[' is not closed; expected ']'",
	"unterminated filter":                "a '[?(' is not closed; expected ')]'",
	"unclosed array expect ]":            "a filter is not closed; expected ']' after ')'",
	"unterminated quoted string":         "a quoted text is not closed",
	"invalid multiple recursive descent": "'..' follows '..'; expected a name after the first",
}

// jsonPathError returns the parser's error as an Error. The parser returns no
// position, so it is that of the quoted part of the text, if that occurs once.
func jsonPathError(text string, err error) *Error {
	message := err.Error()
	fragment := ""
	if m := jsonPathCharacter.FindStringSubmatch(message); m != nil {
		fragment = m[1]
		message = fmt.Sprintf("unexpected character '%s'", fragment)
	} else if m := jsonPathFragment.FindStringSubmatch(message); m != nil {
		fragment = m[1]
	} else if known, ok := jsonPathMessages[message]; ok {
		message = known
	}
	e := &Error{Reason: InvalidJSONPath, Text: text, Message: "invalid JSONPath: " + oneLine(message)}
	e.Line, e.Column = locate(text, fragment)
	return e
}

// locate returns the position of a fragment in a text, 0 unless it occurs once.
func locate(text, fragment string) (line, column int) {
	if fragment == "" || strings.Count(text, fragment) != 1 {
		return 0, 0
	}
	return offsetLineColumn(text, strings.Index(text, fragment))
}
