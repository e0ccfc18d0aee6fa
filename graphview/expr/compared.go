package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Comparison is a variable and a text that an expression compares it with, by ==,
// != or in, wherever in the expression. obj.kind counts as kind.
type Comparison struct {
	Variable, Text string
}

// maxComparisons is how many comparisons of one expression are remembered: more
// than anybody writes by hand.
const maxComparisons = 256

// Compared returns what the expression compares its variables with, in the order
// of the text. The slice is shared: it must not be modified.
func (s *ResourceSelector) Compared() []Comparison { return s.program.compared }

// Compared is that of a ResourceSelector.
func (s *ObjectSelector) Compared() []Comparison { return s.program.compared }

// compare remembers the comparisons of one node.
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

// variableOf is the variable that an expression is, "" if it is none.
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
