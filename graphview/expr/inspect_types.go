package expr

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// typeSizes computes the written size of the types in an expression: list(map(string, int)) has
// four parts. CEL's type checker writes types many times, and an expression of 200 bytes can
// double its type in each of 20 loops. The result is never less than the size in the type checker,
// and more only if the expression takes parts out of a type.
type typeSizes struct {
	*inspection

	results map[string][]resultSize
	scope   map[string]int
}

// resultSize computes the size of an overload's result type: own parts, and a number of type
// parameters. A type parameter is as large as the largest argument's type without the parts around
// the parameter.
type resultSize struct {
	own, parameters, around int
	// generic is the number of overloads with this size that take any type.
	generic int
}

var resultSizes = sync.OnceValue(func() map[string][]resultSize {
	sizes := make(map[string][]resultSize)
	env, err := objectEnvironment()
	if err != nil {
		return sizes // compile returns the error
	}
	for name, function := range env.functions {
		for _, overload := range function.OverloadDecls() {
			var s resultSize
			s.own, s.parameters = partsOfType(overload.ResultType())
			s.around = maxType
			for _, argument := range overload.ArgTypes() {
				if own, parameters := partsOfType(argument); parameters > 0 {
					s.around = min(s.around, own+parameters-1)
				}
			}
			generic := s.parameters > 0 || s.around < maxType
			i := slices.IndexFunc(sizes[name], func(known resultSize) bool {
				return known.own == s.own && known.parameters == s.parameters && known.around == s.around
			})
			if i < 0 {
				i = len(sizes[name])
				sizes[name] = append(sizes[name], s)
			}
			if generic {
				sizes[name][i].generic++
			}
		}
	}
	return sizes
})

// genericsOf returns the number of overloads of a function that take any type.
func genericsOf(function string) int {
	total := 0
	for _, r := range resultSizes()[function] {
		total += r.generic
	}
	return total
}

// partsOfType counts the parts of a type, and its type parameters.
func partsOfType(t *types.Type) (own, parameters int) {
	if t.Kind() == types.TypeParamKind {
		return 0, 1
	}
	own = 1
	for _, part := range t.Parameters() {
		o, p := partsOfType(part)
		own, parameters = own+o, parameters+p
	}
	return own, parameters
}

// note returns the size of an expression's type, and refuses the expression if the size is too large.
// After that it computes no further sizes, and it truncates sizes, so that they cannot double forever.
func (s *typeSizes) note(e ast.Expr) int {
	if s.message != "" {
		return 1
	}
	size := s.of(e)
	if size > maxType && s.message == "" {
		s.node, s.message = e.ID(), typeTooLarge
	}
	return min(size, maxType+1)
}

func (s *typeSizes) of(e ast.Expr) int {
	switch e.Kind() {
	case ast.IdentKind:
		switch size, local := s.scope[e.AsIdent()]; {
		case local:
			return size
		case e.AsIdent() == varLabels || e.AsIdent() == varAnnotations:
			return 3
		}
		return 1
	case ast.SelectKind:
		return s.note(e.AsSelect().Operand())
	case ast.ListKind:
		return 1 + s.largest(e.AsList().Elements())
	case ast.MapKind:
		names, values := 1, 1
		for _, entry := range e.AsMap().Entries() {
			names = max(names, s.note(entry.AsMapEntry().Key()))
			values = max(values, s.note(entry.AsMapEntry().Value()))
		}
		return 1 + names + values
	case ast.CallKind:
		return s.call(e.AsCall())
	default:
		return 1
	}
}

func (s *typeSizes) largest(expressions []ast.Expr) int {
	size := 1
	for _, e := range expressions {
		size = max(size, s.note(e))
	}
	return size
}

func (s *typeSizes) call(c ast.CallExpr) int {
	target := 1
	if c.IsMemberFunction() {
		target = s.note(c.Target())
		if variables, of, ok := macro(c); ok {
			return of(target, s.within(variables, max(target-1, 1), c.Args()[len(variables):]))
		}
	}
	size := max(target, s.largest(c.Args()))
	results, ok := s.results[c.FunctionName()]
	if !ok || c.FunctionName() == operators.OptSelect {
		return 1 + size // a name with dots, or a call that the type checker will refuse
	}
	largest := 1
	for _, r := range results {
		largest = max(largest, r.own+r.parameters*max(size-r.around, 1))
	}
	return largest
}

// within returns the size of a macro's last argument, with variables of a size in scope.
func (s *typeSizes) within(variables []string, size int, arguments []ast.Expr) int {
	outer := s.scope
	s.scope = maps.Clone(outer)
	for _, name := range variables {
		s.scope[name] = size
	}
	last := 1
	for _, argument := range arguments {
		last = s.note(argument)
	}
	s.scope = outer
	return last
}

// macro returns the variables that a macro declares, and a function for the size of its type, given
// the sizes of its target and its last argument.
func macro(c ast.CallExpr) (variables []string, size func(target, last int) int, ok bool) {
	names := 1
	switch c.FunctionName() {
	case "all", "exists", "exists_one", "existsOne":
		names = len(c.Args()) - 1
		size = func(int, int) int { return 1 }
	case "filter", "sortBy":
		size = func(target, _ int) int { return target }
	case "map", "optMap":
		size = func(_, last int) int { return 1 + last }
	case "optFlatMap":
		size = func(_, last int) int { return last }
	case "transformList":
		names, size = 2, func(_, last int) int { return 1 + last }
	case "transformMap":
		names, size = 2, func(target, last int) int { return 1 + target + last }
	case "transformMapEntry":
		names, size = 2, func(_, last int) int { return last }
	default:
		return nil, nil, false
	}
	if names < 1 || len(c.Args()) <= names {
		return nil, nil, false
	}
	for _, argument := range c.Args()[:names] {
		if argument.Kind() != ast.IdentKind {
			return nil, nil, false
		}
		variables = append(variables, argument.AsIdent())
	}
	return variables, size, true
}
