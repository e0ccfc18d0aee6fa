package expr

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// checkEntries looks at the entries that an expression writes out where they
// become part of its value, for what would be wrong with each of them on every
// object.
func checkEntries(text string, checked *ast.AST) *Error {
	return (&entryCheck{text, checked}).list(checked.Expr())
}

type entryCheck struct {
	text    string
	checked *ast.AST
}

// list looks at an expression whose value is a list of entries, or a part of it.
func (c *entryCheck) list(e ast.Expr) *Error {
	switch e.Kind() {
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			if wrong := c.entry(element); wrong != nil {
				return wrong
			}
		}
	case ast.ComprehensionKind:
		// That of map() appends to its result what one step makes.
		if result := e.AsComprehension().Result(); result.Kind() == ast.IdentKind && result.AsIdent() == e.AsComprehension().AccuVar() {
			return c.list(e.AsComprehension().LoopStep())
		}
	case ast.CallKind:
		parts := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Conditional:
			parts = parts[1:]
		case operators.Add:
		default:
			return nil
		}
		for _, part := range parts {
			if wrong := c.list(part); wrong != nil {
				return wrong
			}
		}
	default: // it cannot be told what is in it
	}
	return nil
}

func (c *entryCheck) entry(e ast.Expr) *Error {
	if e.Kind() != ast.MapKind {
		if t := c.checked.GetType(e.ID()); t.Kind() != types.MapKind && t.Kind() != types.DynKind && t.Kind() != types.OpaqueKind {
			return c.wrong(e, "an entry must be a map, not %s", t)
		}
		return nil
	}
	var keys []string
	for _, member := range e.AsMap().Entries() {
		entry := member.AsMapEntry()
		if entry.Key().Kind() != ast.LiteralKind {
			return nil // it may be any of them
		}
		key, _ := entry.Key().AsLiteral().Value().(string)
		if !slices.Contains([]string{"group", "kind", "name", "namespace"}, key) {
			return c.wrong(entry.Key(), "an entry has the keys group, kind, name and, optionally, namespace, not '%v'", entry.Key().AsLiteral().Value())
		}
		keys = append(keys, key)
		if t := c.checked.GetType(entry.Value().ID()); !entry.IsOptional() && t.Kind() != types.StringKind && t.Kind() != types.DynKind {
			return c.wrong(entry.Value(), "the %s of an entry must be a string, not %s", key, t)
		}
	}
	for _, needed := range [...]struct{ key, hint string }{{"group", "; that of Kubernetes' core is ''"}, {"kind", ""}, {"name", ""}} {
		if !slices.Contains(keys, needed.key) {
			return c.wrong(e, "an entry needs a %s%s", needed.key, needed.hint)
		}
	}
	return nil
}

// wrong is an error at a part of the expression.
func (c *entryCheck) wrong(e ast.Expr, format string, args ...any) *Error {
	at := c.checked.SourceInfo().GetStartLocation(e.ID())
	err := &Error{Reason: InvalidExpression, Text: c.text, Message: oneLine(fmt.Sprintf(format, args...))}
	if at.Line() > 0 {
		err.Line, err.Column = at.Line(), at.Column()+1
	}
	return err
}
