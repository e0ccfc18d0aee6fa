package expr

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// CEL charges a function for its work after it is done, and cannot interrupt
// it. That is too late where a small expression can ask for terabytes or for
// years, such as obj.data.a.replace('a', obj.data.a). The guards look at the
// arguments of such functions first.

// guardError refuses a call. Its message contains no values.
type guardError struct{ message string }

func (e *guardError) Error() string { return e.message }

func refuse(format string, arguments ...any) *guardError {
	return &guardError{fmt.Sprintf(format, arguments...)}
}

// A guard says why a call must not be made, or nil. The arguments may be of any
// type: the function itself complains about wrong ones.
type guard func(arguments []ref.Val) *guardError

var callGuards = map[string]guard{
	"matches":         guardRegex,
	"find":            guardRegex,
	"findAll":         guardRegex,
	"replace":         guardReplace,
	"join":            guardJoin,
	"format":          guardFormat,
	"indexOf":         guardProduct,
	"lastIndexOf":     guardProduct,
	"sets.contains":   guardProduct,
	"sets.intersects": guardProduct,
	"sets.equivalent": guardProduct,
	"distinct":        guardSquare,
}

// comparisonGuards are needed only where there are loops: without one, a value
// is as large as the object at most, and with one, a list can hold another one
// many times over, and so forth, at no cost until it is compared.
var comparisonGuards = map[string]guard{
	operators.Equals:    guardComparison,
	operators.NotEquals: guardComparison,
	operators.In:        guardComparison,
}

// guards puts guards into the plan of one expression.
type guards struct {
	functions map[string]*decls.FunctionDecl
	loops     bool
}

// decorate is called for every node of a plan, before CEL's own optimisations,
// which replace calls with a constant pattern or list.
func (g *guards) decorate(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := node.(interpreter.InterpretableCall)
	if !ok {
		return node, nil
	}
	check, ok := callGuards[call.Function()]
	if !ok && g.loops && !hasConstant(call.Args()) {
		check, ok = comparisonGuards[call.Function()]
	}
	if !ok {
		return node, nil
	}
	if pattern, constant := patternOf(call); constant {
		return boundText(call, pattern), nil
	}
	implementation, err := g.implementation(call)
	if err != nil {
		return nil, err
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(arguments ...ref.Val) ref.Val {
		if refused := check(arguments); refused != nil {
			return types.WrapErr(refused)
		}
		return implementation(arguments...)
	}), nil
}

// implementation is what a call would run.
func (g *guards) implementation(call interpreter.InterpretableCall) (functions.FunctionOp, error) {
	switch call.Function() {
	case operators.Equals:
		return func(a ...ref.Val) ref.Val { return types.Equal(a[0], a[1]) }, nil
	case operators.NotEquals:
		return func(a ...ref.Val) ref.Val { return types.Bool(types.Equal(a[0], a[1]) != types.True) }, nil
	}
	bindings, err := g.functions[call.Function()].Bindings()
	if err != nil {
		return nil, fmt.Errorf("guard %s: %w", call.Function(), err)
	}
	for _, name := range []string{call.OverloadID(), call.Function()} {
		for _, binding := range bindings {
			if binding.Operator != name {
				continue
			}
			switch arity := len(call.Args()); {
			case arity == 1 && binding.Unary != nil:
				return func(a ...ref.Val) ref.Val { return binding.Unary(a[0]) }, nil
			case arity == 2 && binding.Binary != nil:
				return func(a ...ref.Val) ref.Val { return binding.Binary(a[0], a[1]) }, nil
			case binding.Function != nil:
				return binding.Function, nil
			}
		}
	}
	return nil, fmt.Errorf("guard %s: no implementation", call.Function())
}

func hasConstant(nodes []interpreter.InterpretableV2) bool {
	for _, node := range nodes {
		if _, ok := node.(interpreter.InterpretableConst); ok {
			return true
		}
	}
	return false
}

// guardReplace bounds the result of text.replace(old, new).
func guardReplace(arguments []ref.Val) *guardError {
	text, _ := arguments[0].(types.String)
	old, _ := arguments[1].(types.String)
	replacement, _ := arguments[2].(types.String)
	if length := len(text) + strings.Count(string(text), string(old))*len(replacement); length > maxStringLength {
		return refuse("replace() would make a string longer than %d bytes", maxStringLength)
	}
	return nil
}

// guardJoin bounds the result of list.join(separator).
func guardJoin(arguments []ref.Val) *guardError {
	separator := 0
	if len(arguments) > 1 {
		s, _ := arguments[1].(types.String)
		separator = len(s)
	}
	elements, ok := arguments[0].(traits.Lister)
	if !ok {
		return nil
	}
	length := 0
	for it := elements.Iterator(); it.HasNext() == types.True; {
		s, _ := it.Next().(types.String)
		if length += len(s) + separator; length > maxStringLength {
			return refuse("join() would make a string longer than %d bytes", maxStringLength)
		}
	}
	return nil
}

// guardFormat bounds the result of text.format(list).
func guardFormat(arguments []ref.Val) *guardError {
	if left := weigh(arguments[1], maxStringLength, true); left < 0 {
		return refuse("format() would make a string longer than %d bytes", maxStringLength)
	}
	return nil
}

// guardProduct bounds functions that look at each pair of elements.
func guardProduct(arguments []ref.Val) *guardError {
	if product := length(arguments[0]) * length(arguments[1]); product > maxWork {
		return refuse("the arguments are too large to search one in the other")
	}
	return guardComparison(arguments)
}

func guardSquare(arguments []ref.Val) *guardError {
	return guardProduct([]ref.Val{arguments[0], arguments[0]})
}

// guardComparison bounds a comparison of values that contain values.
func guardComparison(arguments []ref.Val) *guardError {
	left := maxCompared
	for _, argument := range arguments {
		if left = weigh(argument, left, false); left < 0 {
			return refuse("the values have too many parts to compare; at most %d are allowed", maxCompared)
		}
	}
	return nil
}

// length is how many bytes or elements a value has, at its first level.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok {
			return int(n)
		}
	}
	return 1
}

// weigh takes a value's parts, at all levels, off a budget, and stops once it
// is used up. A string is one part, or as many as it has bytes.
func weigh(v ref.Val, budget int, bytes bool) int {
	budget--
	switch v := v.(type) {
	case types.String:
		if bytes {
			budget -= len(v)
		}
	case traits.Lister:
		for it := v.Iterator(); budget >= 0 && it.HasNext() == types.True; {
			budget = weigh(it.Next(), budget, bytes)
		}
	case traits.Mapper:
		for it := v.Iterator(); budget >= 0 && it.HasNext() == types.True; {
			key := it.Next()
			budget = weigh(key, budget, bytes)
			if value, ok := v.Find(key); ok && budget >= 0 {
				budget = weigh(value, budget, bytes)
			}
		}
	}
	return budget
}
