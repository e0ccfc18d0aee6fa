package expr

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// outcome describes the value that an expression must have.
type outcome struct {
	name    string // of the type
	meaning string
	// accepts reports whether an expression with this type may have such a value.
	accepts func(*cel.Type) bool
	// check returns an error if anything but the type is wrong. It may be nil.
	check func(text string, checked *ast.AST) *Error
}

var truth = outcome{name: "bool", meaning: "true or false", accepts: func(t *cel.Type) bool {
	return t.Kind() == types.BoolKind || t.Kind() == types.DynKind
}}

// compile compiles an expression. The error is an *Error, or wraps that of ctx or of the Turn.
// The largest expressions take some tens of megabytes and a third of a second.
func compile(ctx context.Context, turn Turn, environment func() (*environment, error), text string, want outcome) (p *program, err error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, &Error{Reason: InvalidExpression, Message: "expression is empty; it must evaluate to " + want.meaning}
	}
	if err := tooLong(InvalidExpression, "expression", text); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("compile expression: %w", context.Cause(ctx))
	}
	release, err := turn.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("compile expression: %w", err)
	}
	defer release()
	defer func() {
		// CEL's type checker and validators panic on some texts that its parser accepts,
		// such as [?dyn(1)], and users may write any text.
		if recover() != nil {
			p, err = nil, &Error{Reason: InvalidExpression, Text: text, Message: "expression cannot be compiled: what follows ? in a list or map must be an optional value"}
		}
	}()
	if err := inspect(text); err != nil {
		return nil, err
	}
	checked, issues := env.Compile(unreserve(text))
	if issues.Err() != nil {
		return nil, syntaxError(text, env.variables, issues.Errors())
	}
	if out := checked.OutputType(); !want.accepts(out) {
		return nil, &Error{
			Reason: InvalidExpression, Text: text,
			Message: fmt.Sprintf("expression must evaluate to %s, not %s", want.name, oneLine(cel.FormatCELType(out))),
		}
	}
	if want.check != nil {
		if wrong := want.check(text, checked.NativeRep()); wrong != nil {
			return nil, wrong
		}
	}
	return plan(env, checked, text)
}

func plan(env *environment, checked *cel.Ast, text string) (*program, error) {
	native := checked.NativeRep()
	p := &program{
		source: native.SourceInfo(),
		calls:  map[int64]string{},
		words:  map[string]bool{},
	}
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(p.note))

	planner := &planner{
		functions: env.functions, adapter: env.CELTypeAdapter(), factory: ast.NewExprFactory(),
		next: ast.MaxID(native), nodes: map[int64]int{}, optional: map[int64][]bool{},
	}
	p.nodes = planner.mark(native.Expr())
	evaluable, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CustomDecoratorV2(planner.decorate))
	if err != nil {
		// CEL evaluates constant parts now, and may fail. The message may contain their
		// values, since they come from the expression.
		return nil, &Error{Reason: InvalidExpression, Text: text, Message: oneLine(err.Error())}
	}
	p.evaluable = evaluable
	return p, nil
}

// note stores the words of the expression that messages may contain, and its comparisons.
func (p *program) note(e ast.Expr) {
	p.compare(e)
	switch e.Kind() {
	case ast.CallKind:
		p.calls[e.ID()] = e.AsCall().FunctionName()
	case ast.SelectKind:
		p.words[e.AsSelect().FieldName()] = true
	case ast.LiteralKind:
		if s, ok := e.AsLiteral().(types.String); ok {
			p.words[string(s)] = true
		}
	}
}

// Comparison is a variable and a text that an expression compares it with, by ==,
// != or in, anywhere in the expression. obj.kind counts as kind.
type Comparison struct {
	Variable, Text string
}

// maxComparisons is the maximum number of comparisons that are kept for one
// expression, more than in any expression that is written by hand.
const maxComparisons = 256

// Compared returns the comparisons in the expression, in the order of the text.
// The caller must not modify the slice.
func (s *ResourceSelector) Compared() []Comparison { return s.program.compared }

// Compared returns the comparisons, see ResourceSelector.Compared.
func (s *ObjectSelector) Compared() []Comparison { return s.program.compared }

// compare stores the comparisons of one node.
func (p *program) compare(e ast.Expr) {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return
	}
	left, right := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals:
		p.noteComparison(left, right)
		p.noteComparison(right, left)
	case operators.In:
		if right.Kind() == ast.ListKind {
			for _, element := range right.AsList().Elements() {
				p.noteComparison(left, element)
			}
		}
	}
}

func (p *program) noteComparison(variable, text ast.Expr) {
	name := variableOf(variable)
	if name == "" || text.Kind() != ast.LiteralKind || len(p.compared) == maxComparisons {
		return
	}
	if s, ok := text.AsLiteral().(types.String); ok {
		p.compared = append(p.compared, Comparison{Variable: name, Text: string(s)})
	}
}

// variableOf returns the name of a variable, "" if the expression is not a variable.
func variableOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == standInNamespace {
			return varNamespace
		}
		return e.AsIdent()
	case ast.SelectKind:
		s := e.AsSelect()
		if s.FieldName() == varKind && !s.IsTestOnly() && s.Operand().Kind() == ast.IdentKind && s.Operand().AsIdent() == varObject {
			return varKind
		}
	}
	return ""
}
