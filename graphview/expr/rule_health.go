package expr

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Health is a compiled expression that returns the health of an object.
type Health struct {
	program *program
	states  []string
}

// Judgement is the result of such an expression. The zero value means no opinion.
type Judgement struct {
	// State is one of the states that the expression was compiled with.
	State, Reason string
	// Ready and Wanted are valid only if Counted is true.
	Ready, Wanted int64
	Counted       bool
	// Since is the zero time if the result has no since.
	Since time.Time
}

// The keys of the map that such an expression may evaluate to.
const (
	keyState  = "state"
	keyReason = "reason"
	keyReady  = "ready"
	keyWanted = "wanted"
	keySince  = "since"
)

// judgementTypes are the keys, and the types that their values may have.
var judgementTypes = map[string][]types.Kind{
	keyState: {types.StringKind}, keyReason: {types.StringKind},
	keyReady: {types.IntKind, types.UintKind}, keyWanted: {types.IntKind, types.UintKind},
	keySince: {types.StringKind, types.TimestampKind},
}

const judgementKeys = "state and, optionally, reason, ready, wanted and since"

// CompileHealth compiles an expression over the variables of CompileObject that
// evaluates to one of the states, or to a map with the key state and, optionally,
// reason, ready, wanted and since. An empty text or map means no opinion. The error
// is an *Error, or wraps that of ctx.
func CompileHealth(ctx context.Context, turn Turn, text string, states []string) (*Health, error) {
	p, err := compile(ctx, turn, ruleEnvironment, text, healthOutcome(states))
	if err != nil {
		return nil, err
	}
	return &Health{p, states}, nil
}

func healthOutcome(states []string) outcome {
	return outcome{
		name:    "a state or a map with " + judgementKeys,
		meaning: "one of the states " + strings.Join(states, ", ") + ", or a map with " + judgementKeys,
		accepts: func(t *cel.Type) bool {
			if t.Kind() != types.MapKind {
				return t.Kind() == types.DynKind || t.Kind() == types.StringKind
			}
			key := t.Parameters()[0].Kind()
			return key == types.StringKind || key == types.DynKind || key == types.TypeParamKind
		},
		check: func(text string, checked *ast.AST) *Error {
			return (&judgementCheck{entryCheck{text, checked}, states}).value(checked.Expr())
		},
	}
}

// Judge evaluates the expression. The error is an *EvaluationError, or wraps that of
// ctx or of in.Object.
func (h *Health) Judge(ctx context.Context, in *Input) (Judgement, error) {
	result, err := h.program.on(ctx, in)
	if err != nil {
		return Judgement{}, err
	}
	var j Judgement
	wrong := ""
	switch value := result.(type) {
	case types.String:
		j.State = string(value)
	case traits.Mapper:
		j, wrong = judgementOf(value)
	default:
		return Judgement{}, notOfType(healthOutcome(h.states), result)
	}
	switch empty := j == (Judgement{}); {
	case wrong != "":
	case empty:
		return j, nil
	case j.State == "":
		wrong = "has no state"
	case !slices.Contains(h.states, j.State):
		wrong = "has a state that is none of " + strings.Join(h.states, ", ")
	default:
		return j, nil
	}
	return Judgement{}, &EvaluationError{Message: "the value " + wrong}
}

// judgementOf converts a map. If the map is invalid, wrong says why, without values
// of the map.
func judgementOf(m traits.Mapper) (j Judgement, wrong string) {
	for _, field := range [...]struct {
		key  string
		into *string
	}{{keyState, &j.State}, {keyReason, &j.Reason}} {
		value, found := m.Find(types.String(field.key))
		if !found || value == types.NullValue {
			continue
		}
		text, isText := value.(types.String)
		if !isText {
			return j, "has a " + field.key + " that is no string"
		}
		*field.into = string(text)
	}
	for _, field := range [...]struct {
		key  string
		into *int64
	}{{keyReady, &j.Ready}, {keyWanted, &j.Wanted}} {
		value, found := m.Find(types.String(field.key))
		if !found || value == types.NullValue {
			continue
		}
		n, isCount := countOf(value)
		if !isCount {
			return j, "has a " + field.key + " that is no whole number from 0 on"
		}
		*field.into = n
		j.Counted = j.Counted || field.key == keyWanted
	}
	if !j.Counted {
		j.Ready = 0
	}
	if value, found := m.Find(types.String(keySince)); found && value != types.NullValue {
		if j.Since, found = timeOf(value); !found {
			return j, "has a since that is no time in RFC 3339"
		}
	}
	for it := m.Iterator(); it.HasNext() == types.True; {
		if key, _ := it.Next().(types.String); judgementTypes[string(key)] == nil {
			return j, "has a key that is none of " + judgementKeys
		}
	}
	return j, ""
}

func countOf(value ref.Val) (int64, bool) {
	switch n := value.(type) {
	case types.Int:
		return int64(n), n >= 0
	case types.Uint:
		return int64(n), n <= math.MaxInt64 //nolint:gosec // looked at
	case types.Double:
		return int64(n), n >= 0 && n <= 1<<53 && n == types.Double(math.Trunc(float64(n)))
	default:
		return 0, false
	}
}

// timeOf converts a time. An empty text is the zero time.
func timeOf(value ref.Val) (time.Time, bool) {
	switch t := value.(type) {
	case types.Timestamp:
		return t.Time, true
	case types.String:
		if t == "" {
			return time.Time{}, true
		}
		if len(t) > maxParsed {
			return time.Time{}, false
		}
		at, err := time.Parse(time.RFC3339, string(t))
		return at, err == nil
	default:
		return time.Time{}, false
	}
}

// judgementCheck finds literals that may become the value of an expression and that
// would be wrong for every object.
type judgementCheck struct {
	entryCheck

	states []string
}

func (c *judgementCheck) value(e ast.Expr) *Error {
	switch e.Kind() {
	case ast.MapKind:
		return c.judgement(e)
	case ast.LiteralKind:
		return c.state(e)
	case ast.CallKind:
		if e.AsCall().FunctionName() != operators.Conditional {
			return nil
		}
		for _, branch := range e.AsCall().Args()[1:] {
			if wrong := c.value(branch); wrong != nil {
				return wrong
			}
		}
	default: // known only at run time
	}
	return nil
}

// state checks a constant that is a state.
func (c *judgementCheck) state(e ast.Expr) *Error {
	switch text, isText := e.AsLiteral().Value().(string); {
	case !isText:
		return c.wrong(e, "the state must be a string, not %s", c.checked.GetType(e.ID()))
	case text != "" && !slices.Contains(c.states, text):
		return c.wrong(e, "'%s' is none of the states %s", text, strings.Join(c.states, ", "))
	}
	return nil
}

func (c *judgementCheck) judgement(e ast.Expr) *Error {
	members, wrong := c.members(e, judgementTypes, "the map has the keys "+judgementKeys+", not '%v'", "%s must be %s, not %s")
	if len(members) == 0 {
		return wrong // or no opinion
	}
	state := members[keyState]
	switch {
	case state == nil:
		return c.wrong(e, "the map needs a state")
	case members[keyReady] != nil && members[keyWanted] == nil:
		return c.wrong(e, "ready needs wanted: of how many")
	case state.IsOptional() || state.Value().Kind() == ast.MapKind:
		return nil
	}
	return c.value(state.Value())
}

var typeNames = map[types.Kind]string{types.StringKind: "a string", types.IntKind: "a whole number"}
