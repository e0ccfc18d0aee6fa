package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// judgementCheck looks at the texts and maps that an expression writes out where they
// become its value, for what would be wrong with them on every object.
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
	default: // it cannot be told what it is
	}
	return nil
}

// state looks at a constant that is a state.
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
	entries := e.AsMap().Entries()
	var keys []string
	for _, member := range entries {
		entry := member.AsMapEntry()
		if entry.Key().Kind() != ast.LiteralKind {
			return nil // it may be any of them
		}
		key, _ := entry.Key().AsLiteral().Value().(string)
		wanted := judgementTypes[key]
		if wanted == nil {
			return c.wrong(entry.Key(), "the map has the keys %s, not '%v'", judgementKeys, entry.Key().AsLiteral().Value())
		}
		keys = append(keys, key)
		value := entry.Value()
		if t := c.checked.GetType(value.ID()); !entry.IsOptional() && t.Kind() != types.DynKind && !slices.Contains(wanted, t.Kind()) {
			return c.wrong(value, "%s must be %s, not %s", key, typeNames[wanted[0]], t)
		}
		if key == keyState && !entry.IsOptional() {
			if wrong := c.value(value); value.Kind() != ast.MapKind && wrong != nil {
				return wrong
			}
		}
	}
	switch {
	case len(entries) == 0: // no opinion
	case !slices.Contains(keys, keyState):
		return c.wrong(e, "the map needs a state")
	case slices.Contains(keys, keyReady) && !slices.Contains(keys, keyWanted):
		return c.wrong(e, "ready needs wanted: of how many")
	}
	return nil
}

var typeNames = map[types.Kind]string{types.StringKind: "a string", types.IntKind: "a whole number"}
