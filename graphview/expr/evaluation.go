package expr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// program is one compiled expression.
type program struct {
	evaluable cel.Program
	source    *ast.SourceInfo
	// nodes is the number of nodes, with one turn of each loop.
	nodes int
	// calls are the functions by node, and words the constants and fields of the expression. A
	// message may contain them.
	calls map[int64]string
	words map[string]bool
	// compared has at most maxComparisons comparisons.
	compared []Comparison
}

// EvaluationError says why a valid expression has no value for an object. It
// never contains values of the object.
type EvaluationError struct {
	// Line and Column are the place in the expression that failed, from 1, in
	// characters; 0 if unknown.
	Line, Column int
	Message      string
}

func (e *EvaluationError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (line %d, column %d of the expression)", e.Message, e.Line, e.Column)
}

// CoarseText returns the error for authors who may not read all objects that the
// expression is evaluated on. The place and the cause would reveal content of an object.
func (e *EvaluationError) CoarseText() string {
	return "expression failed on this object; to be told where and why, name a service account in the view"
}

// eval evaluates the expression within the limits of the meter. The variables, a
// cel.Activation or a map, must include varMeter. The error is an *EvaluationError, or
// wraps that of the context or of its Turn.
func (p *program) eval(m *meter, variables any) (ref.Val, error) {
	if m.ctx.Err() != nil {
		return nil, fmt.Errorf("evaluate expression: %w", context.Cause(m.ctx))
	}
	m.left -= p.nodes
	result, _, err := p.evaluable.Eval(variables)
	if err == nil {
		return result, nil
	}
	var cancelled interpreter.EvalCancelledError
	switch {
	case !errors.As(err, &cancelled):
		return nil, p.safe(err)
	case cancelled.Cause == interpreter.CostLimitExceeded:
		evaluationCost.Exceed()
		return nil, &EvaluationError{
			Message: fmt.Sprintf("cost limit exceeded: the expression took more than %d units on this object", CostLimit),
		}
	}
	return nil, fmt.Errorf("evaluate expression: %w", cmp.Or(m.err, context.Cause(m.ctx)))
}

// isTrue returns the value of an expression that must be a bool.
func isTrue(result ref.Val) (bool, error) {
	value, ok := result.(types.Bool)
	if !ok {
		return false, notOfType(truth, result)
	}
	return bool(value), nil
}

func notOfType(want outcome, result ref.Val) *EvaluationError {
	return &EvaluationError{
		Message: fmt.Sprintf("expression must evaluate to %s, and was %s for this object", want.name, result.Type().TypeName()),
	}
}

// safeMessages are runtime messages of CEL that contain no values. CEL has no types for them. The
// message for an error that is not in the list is less specific.
var safeMessages = []string{
	"division by zero",
	"modulus by zero",
	"integer overflow",
	"unsigned integer overflow",
	"duration overflow",
	"timestamp overflow",
	"optional.none() dereference",
}

// safe converts a runtime error of CEL to an error without values.
func (p *program) safe(err error) *EvaluationError {
	safe := &EvaluationError{}
	node := int64(noNode)
	if failed := (*types.Err)(nil); errors.As(err, &failed) {
		node = failed.NodeID()
	}
	if node != noNode {
		safe.Line, safe.Column = lineColumn(p.source.GetStartLocation(node))
	}
	safe.Message = p.describe(err, node)
	return safe
}

func (p *program) describe(err error, node int64) string {
	if refused, ok := errors.AsType[*guardError](err); ok {
		return refused.message
	}
	message := err.Error()
	for _, known := range safeMessages {
		if message == known {
			return known
		}
	}
	// The key may be computed from a value of the object.
	if key, ok := strings.CutPrefix(message, "no such key: "); ok {
		if p.words[key] {
			return "no such key: " + shorten(oneLine(key), maxQuoted)
		}
		return "no such key"
	}
	switch {
	case strings.HasPrefix(message, "index out of bounds"), strings.HasPrefix(message, "index '"):
		return "index out of bounds"
	case strings.HasPrefix(message, "no such overload"), strings.HasPrefix(message, "unsupported overload"):
		return "no such overload: a function or operator got a value of another type than it takes"
	case strings.HasPrefix(message, "type conversion error"), strings.HasPrefix(message, "unsupported conversion"):
		return "conversion error"
	}
	if function, ok := p.calls[node]; ok {
		return callee(function) + " failed on this object"
	}
	return "expression failed on this object"
}
