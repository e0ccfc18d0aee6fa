package expr

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// syntaxParser parses without expanding macros, so that inspect can bound the
// expansion beforehand.
var syntaxParser = sync.OnceValues(func() (*parser.Parser, error) {
	return parser.NewParser(
		parser.MaxRecursionDepth(maxNesting),
		parser.ExpressionSizeCodePointLimit(MaxTextLength),
		parser.EnableOptionalSyntax(true),
	)
})

// inspect returns an error if an expression would take too long to compile. It
// parses without macros. The environment then parses again, with macros.
func inspect(text string) *Error {
	p, err := syntaxParser()
	if err != nil {
		return &Error{Reason: InvalidExpression, Text: text, Message: oneLine(err.Error())}
	}
	parsed, errs := p.Parse(common.NewTextSource(unreserve(text)))
	if all := errs.GetErrors(); len(all) > 0 {
		return syntaxError(text, nil, all)
	}
	i := &inspection{}
	i.size(parsed.Expr())
	if i.message == "" {
		(&typeSizes{inspection: i, results: resultSizes(), scope: map[string]int{}}).note(parsed.Expr())
	}
	if i.message == "" {
		return nil
	}
	return invalidAt(parsed.SourceInfo(), i.node, text, i.message)
}

// inspection sums up the work that the compilation will have, and keeps the
// first reason to refuse the expression.
type inspection struct {
	literals, messages, generics, loops, copies, regexes int

	node    int64
	message string
}

// spend adds to one of the sums and refuses the expression when that exceeds
// its limit.
func (i *inspection) spend(sum *int, amount, limit int, node ast.Expr, message string) {
	if *sum += amount; *sum > limit && i.message == "" {
		i.node, i.message = node.ID(), message
	}
}

// size returns the number of nodes of an expression, with the copies that macros
// make. The number is arbitrary if the expression is refused.
func (i *inspection) size(e ast.Expr) int {
	switch e.Kind() {
	case ast.CallKind:
		return i.call(e)
	case ast.SelectKind:
		return 1 + i.size(e.AsSelect().Operand())
	case ast.ListKind:
		i.spend(&i.literals, 1, maxLiterals, e, tooManyLiterals)
		if e.AsList().Size() == 0 {
			i.spend(&i.generics, 1, maxGenerics, e, tooManyGenerics)
		}
		return 1 + i.sizes(e.AsList().Elements())
	case ast.MapKind:
		i.spend(&i.literals, 1, maxLiterals, e, tooManyLiterals)
		if e.AsMap().Size() == 0 {
			i.spend(&i.generics, 1, maxGenerics, e, tooManyGenerics)
		}
		return 1 + i.entries(e.AsMap().Entries())
	case ast.StructKind:
		// CEL copies the content of a message in full, and the content may be a message.
		i.spend(&i.messages, 1, 0, e, noMessages)
		return 1 + i.entries(e.AsStruct().Fields())
	default:
		return 1
	}
}

func (i *inspection) sizes(expressions []ast.Expr) int {
	total := 0
	for _, e := range expressions {
		total += i.size(e)
	}
	return total
}

func (i *inspection) entries(entries []ast.EntryExpr) int {
	total := 0
	for _, entry := range entries {
		switch entry.Kind() {
		case ast.MapEntryKind:
			total += i.size(entry.AsMapEntry().Key()) + i.size(entry.AsMapEntry().Value())
		case ast.StructFieldKind:
			total += i.size(entry.AsStructField().Value())
		}
	}
	return total
}

func (i *inspection) call(e ast.Expr) int {
	call := e.AsCall()
	i.spend(&i.generics, genericsOf(call.FunctionName()), maxGenerics, e, tooManyGenerics)
	total := 1 + i.sizes(call.Args())
	if !call.IsMemberFunction() {
		return total
	}
	target := i.size(call.Target())
	switch call.FunctionName() {
	case "optMap", "optFlatMap":
		i.spend(&i.copies, target, maxCopies, e, tooManyCopies)
		total += target
	case "all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy",
		"transformList", "transformMap", "transformMapEntry":
		i.spend(&i.loops, 1, maxLoops, e, tooManyLoops)
	case "matches", "find", "findAll":
		if pattern, ok := constantPattern(call.Args()); ok {
			i.spend(&i.regexes, regexSize(pattern), maxRegexSize, e, regexTooLarge)
		}
	}
	return total + target
}

var (
	tooManyLiterals = fmt.Sprintf("expression has too many lists and maps; at most %d are allowed", maxLiterals)
	tooManyLoops    = fmt.Sprintf("expression has too many loops such as all() and map(); at most %d are allowed", maxLoops)
)

var tooManyGenerics = fmt.Sprintf("expression has too many operators and functions that take any type, such as ==, in and []; the sum of their overloads is at most %d", maxGenerics)

var typeTooLarge = fmt.Sprintf("lists, maps and optional values nest too deeply in each other; a type has at most %d parts, and dyn() makes it one", maxType)

const noMessages = "expression cannot make messages such as google.protobuf.Value{}; use lists and maps"

const tooManyCopies = "optMap() and optFlatMap() make the expression too large, since they copy what they are called on; in a chain each one doubles it, so use fewer"

func constantPattern(arguments []ast.Expr) (string, bool) {
	if len(arguments) == 0 || arguments[0].Kind() != ast.LiteralKind {
		return "", false
	}
	pattern, ok := arguments[0].AsLiteral().(types.String)
	return string(pattern), ok
}
