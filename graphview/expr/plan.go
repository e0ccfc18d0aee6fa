package expr

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Functions that mark puts around parts of an expression, so that decorate knows
// the purpose of a node in CEL's plan. An expression cannot call them.
const (
	markStep  = "@step"
	markRange = "@range"
	markKey   = "@key"
	markLabel = "@label"
)

// marks declares these functions.
func marks() []cel.EnvOption {
	var options []cel.EnvOption
	for _, name := range []string{markStep, markRange, markKey} {
		options = append(options, cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType}, cel.DynType,
			cel.UnaryBinding(func(v ref.Val) ref.Val { return v }))))
	}
	return append(options, cel.Function(markLabel, cel.Overload(markLabel+"_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.DynType,
		cel.BinaryBinding(func(v, _ ref.Val) ref.Val { return v }))))
}

// planner adds nodes that charge the meter to the plan of one expression.
type planner struct {
	functions map[string]*decls.FunctionDecl
	adapter   types.Adapter
	factory   ast.ExprFactory
	next      int64
	// nodes is the number of nodes in one turn of a loop, by the id of its @step.
	nodes map[int64]int
	// optional says which elements or entries are optional, by the id of the list or map.
	optional map[int64][]bool
	// local are the variables of the loops around a node.
	local []string
}

// mark puts marks into an expression, and returns the number of its nodes, with
// one turn of each loop.
func (p *planner) mark(e ast.Expr) int {
	switch e.Kind() {
	case ast.CallKind:
		c := e.AsCall()
		total := 1
		if c.IsMemberFunction() {
			total += p.mark(c.Target())
		}
		for _, arg := range c.Args() {
			total += p.mark(arg)
		}
		if name := c.FunctionName(); (name == operators.Index || name == operators.OptIndex) && c.Args()[1].Kind() != ast.LiteralKind {
			e.SetKindCase(p.factory.NewCall(e.ID(), name, c.Args()[0], p.marked(markKey, c.Args()[1])))
		}
		switch name := c.FunctionName(); name {
		case operators.Equals, operators.NotEquals:
			e.SetKindCase(p.factory.NewCall(e.ID(), name, p.maybeLabel(c.Args()[0]), p.maybeLabel(c.Args()[1])))
		case operators.In:
			e.SetKindCase(p.factory.NewCall(e.ID(), name, p.maybeLabel(c.Args()[0]), c.Args()[1]))
		}
		return total
	case ast.SelectKind:
		return 1 + p.mark(e.AsSelect().Operand())
	case ast.ListKind:
		total := 1
		for _, element := range e.AsList().Elements() {
			total += p.mark(element)
		}
		if indices := e.AsList().OptionalIndices(); len(indices) > 0 {
			optional := make([]bool, len(e.AsList().Elements()))
			for _, i := range indices {
				optional[i] = true
			}
			p.optional[e.ID()] = optional
		}
		return total
	case ast.MapKind:
		total := 1
		var optional []bool
		for _, entry := range e.AsMap().Entries() {
			total += p.mark(entry.AsMapEntry().Key()) + p.mark(entry.AsMapEntry().Value())
			optional = append(optional, entry.AsMapEntry().IsOptional())
		}
		if slices.Contains(optional, true) {
			p.optional[e.ID()] = optional
		}
		return total
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		total := 1 + p.mark(c.IterRange()) + p.mark(c.AccuInit()) + p.mark(c.Result())
		p.local = append(p.local, c.IterVar(), c.IterVar2())
		turn := p.mark(c.LoopCondition()) + p.mark(c.LoopStep())
		p.local = p.local[:len(p.local)-2]
		marked := p.marked(markStep, c.LoopStep())
		p.nodes[marked.ID()] = turn
		e.SetKindCase(p.factory.NewComprehensionTwoVar(e.ID(), p.marked(markRange, c.IterRange()), c.IterVar(), c.IterVar2(),
			c.AccuVar(), c.AccuInit(), c.LoopCondition(), marked, c.Result()))
		return total + turn
	default:
		return 1
	}
}

func (p *planner) marked(mark string, e ...ast.Expr) ast.Expr {
	p.next++
	return p.factory.NewCall(p.next, mark, e...)
}

// maybeLabel marks an operand of a comparison that is a label or annotation. An absent one is then
// null, which is equal to no string.
func (p *planner) maybeLabel(e ast.Expr) ast.Expr {
	var of, name ast.Expr
	switch {
	case e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly():
		of = e.AsSelect().Operand()
		p.next++
		name = p.factory.NewLiteral(p.next, types.String(e.AsSelect().FieldName()))
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index:
		of, name = e.AsCall().Args()[0], e.AsCall().Args()[1]
	default:
		return e
	}
	if of.Kind() != ast.IdentKind {
		return e
	}
	if variable := of.AsIdent(); variable != varLabels && variable != varAnnotations || slices.Contains(p.local, variable) {
		return e
	}
	return p.marked(markLabel, of, name)
}

// decorate is called for every node of a plan. It runs before CEL's own optimisations,
// which replace lists of constants, and calls with a constant pattern or list.
func (p *planner) decorate(plain interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch of := plain.(type) {
	case interpreter.InterpretableCall:
		switch of.Function() {
		case markStep:
			return step(of.Args()[0], p.nodes[of.ID()]), nil
		case markRange:
			return loopRange(of.Args()[0]), nil
		case markKey:
			return key(of.Args()[0]), nil
		case markLabel:
			return label(of), nil
		}
		return p.call(of)
	case interpreter.InterpretableConstructor:
		parts := of.InitVals()
		if !slices.ContainsFunc(parts, func(n interpreter.InterpretableV2) bool { return !isConstant(n) }) {
			return plain, nil
		}
		made := &maker{id: of.ID(), parts: parts, optional: p.optional[of.ID()], adapter: p.adapter}
		if of.Type() == types.MapType {
			return &node{of, made.entries}, nil
		}
		return &node{of, made.list}, nil
	}
	return plain, nil
}

func (p *planner) call(of interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	b := p.boundOf(of)
	if b == nil {
		return of, nil
	}
	switch {
	case of.Function() == operators.Equals || of.Function() == operators.NotEquals:
		// The comparison reads no more than the constant has.
		if slices.ContainsFunc(of.Args(), isConstant) {
			return of, nil
		}
	case of.OverloadID() == overloads.InList && isConstant(of.Args()[1]):
		// CEL makes a set of the list, or compares the text with each constant in it.
		run, _, err := p.implementation(of)
		return withFirst(of, readText(of.Args()[0]), run), err
	}
	if pattern, constant := patternOf(of); constant {
		// CEL compiles the pattern once, and replaces the implementation.
		return withFirst(of, boundedText(of.Args()[0], regexSize(pattern), of.Function() == "findAll"), nil), nil
	}
	return p.metered(of, b)
}

// withFirst returns the call with another first argument.
func withFirst(of interpreter.InterpretableCall, first interpreter.InterpretableV2, run functions.FunctionOp) interpreter.InterpretableV2 {
	arguments := slices.Clone(of.Args())
	arguments[0] = first
	return interpreter.NewCall(of.ID(), of.Function(), of.OverloadID(), arguments, run)
}

func isConstant(node interpreter.InterpretableV2) bool {
	_, ok := node.(interpreter.InterpretableConst)
	return ok
}
