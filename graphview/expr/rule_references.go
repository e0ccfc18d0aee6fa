package expr

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// maxFound is the maximum number of references that an expression returns for one object.
const maxFound = 1_000

// maxMalformed is the maximum number of malformed entries that an error describes.
const maxMalformed = 3

// References is a compiled expression that returns the objects that an object
// refers to.
type References struct{ program *program }

// Found is an object that an expression names.
type Found struct {
	Group, Kind, Namespace, Name string
}

var targets = outcome{
	name:    "a list of maps with group, kind, name and, optionally, namespace",
	meaning: "a list of maps with group, kind, name and, optionally, namespace",
	accepts: func(t *cel.Type) bool {
		if t.Kind() == types.DynKind {
			return true
		}
		return t.Kind() == types.ListKind && isTargetType(t.Parameters()[0])
	},
	check: checkEntries,
}

// isTargetType reports whether a value of the type may be an entry.
func isTargetType(t *cel.Type) bool {
	open := func(t *cel.Type) bool { return t.Kind() == types.DynKind || t.Kind() == types.TypeParamKind }
	if open(t) {
		return true
	}
	if t.Kind() != types.MapKind {
		return false
	}
	key, value := t.Parameters()[0], t.Parameters()[1]
	return (open(key) || key.Kind() == types.StringKind) && (open(value) || value.Kind() == types.StringKind)
}

// CompileReferences compiles an expression over the variables of CompileObject
// that evaluates to a list of maps with group, kind, name and, optionally,
// namespace, all strings. The error is an *Error, or wraps that of ctx.
func CompileReferences(ctx context.Context, turn Turn, text string) (*References, error) {
	p, err := compile(ctx, turn, ruleEnvironment, text, targets)
	if err != nil {
		return nil, err
	}
	return &References{p}, nil
}

// Find evaluates the expression. It skips entries with an empty name, as from an optional field. The
// error is an *EvaluationError, with which Find still returns the valid entries, or wraps that of ctx
// or of in.Object.
func (r *References) Find(ctx context.Context, in *Input) ([]Found, error) {
	result, err := r.program.on(ctx, in)
	if err != nil {
		return nil, err
	}
	list, ok := result.(traits.Lister)
	if !ok {
		return nil, notOfType(targets, result)
	}
	var found []Found
	var wrong []string
	malformed := 0
	it := list.Iterator()
	for i := 0; it.HasNext() == types.True; i++ {
		if i == maxFound {
			wrong = append(wrong, fmt.Sprintf("names more than %d objects; the others are left out", maxFound))
			break
		}
		one, why := entryOf(it.Next())
		switch {
		case why == "" && one.Name != "":
			found = append(found, one)
		case why != "":
			if malformed++; malformed <= maxMalformed {
				wrong = append(wrong, fmt.Sprintf("entry %d %s", i, why))
			}
		}
	}
	if more := malformed - maxMalformed; more > 0 {
		wrong = append(wrong, fmt.Sprintf("%d more entries are malformed", more))
	}
	if len(wrong) == 0 {
		return found, nil
	}
	return found, &EvaluationError{Message: strings.Join(wrong, "; ")}
}

// entryOf converts one entry. If the entry is invalid, it returns the reason,
// without values of the entry.
func entryOf(value ref.Val) (Found, string) {
	var f Found
	m, ok := value.(traits.Mapper)
	if !ok {
		return f, "is no map"
	}
	for _, field := range [...]struct {
		key      string
		into     *string
		required bool
		valid    func(string) bool
	}{
		{"group", &f.Group, true, isGroupName},
		{"kind", &f.Kind, true, isKindName},
		{"name", &f.Name, true, isObjectName},
		{"namespace", &f.Namespace, false, isGroupName},
	} {
		value, ok := m.Find(types.String(field.key))
		if !ok {
			if field.required {
				return f, "has no " + field.key
			}
			continue
		}
		text, ok := value.(types.String)
		switch {
		case !ok:
			return f, "has a " + field.key + " that is no string"
		case !field.valid(string(text)):
			return f, "has a " + field.key + " that cannot be one"
		}
		*field.into = string(text)
	}
	for it := m.Iterator(); it.HasNext() == types.True; {
		switch key, _ := it.Next().(types.String); key {
		case "group", "kind", "name", "namespace":
		default:
			return f, "has a key that is none of group, kind, name and namespace"
		}
	}
	return f, ""
}

// Limits of the API server for groups, namespaces, kinds and names. Longer values are refused,
// because the graph keeps the names and an object may contain any text.
const (
	maxNameLength = 253
	maxKindLength = 63
)

func isGroupName(text string) bool {
	return len(text) <= maxNameLength && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

func isKindName(text string) bool {
	return text != "" && len(text) <= maxKindLength && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	})
}

func isObjectName(text string) bool {
	return len(text) <= maxNameLength && !strings.ContainsAny(text, "/%\x00")
}

// checkEntries finds entries that are written as literals, may become part of the
// value, and would be wrong for every object.
func checkEntries(text string, checked *ast.AST) *Error {
	return (&entryCheck{text, checked}).list(checked.Expr())
}

type entryCheck struct {
	text    string
	checked *ast.AST
}

// list checks an expression whose value is the list of entries or a part of it.
func (c *entryCheck) list(e ast.Expr) *Error {
	switch e.Kind() {
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			if wrong := c.checkEntry(element); wrong != nil {
				return wrong
			}
		}
	case ast.ComprehensionKind:
		// The loop of map() appends the value of each step to its result.
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
	default: // known only at run time
	}
	return nil
}

func (c *entryCheck) checkEntry(e ast.Expr) *Error {
	if e.Kind() != ast.MapKind {
		if t := c.checked.GetType(e.ID()); t.Kind() != types.MapKind && t.Kind() != types.DynKind && t.Kind() != types.OpaqueKind {
			return c.wrong(e, "an entry must be a map, not %s", t)
		}
		return nil
	}
	members, wrong := c.members(e, entryTypes, "an entry has the keys group, kind, name and, optionally, namespace, not '%v'", "the %s of an entry must be %s, not %s")
	if members == nil {
		return wrong
	}
	for _, needed := range [...]struct{ key, hint string }{{"group", "; that of Kubernetes' core is ''"}, {"kind", ""}, {"name", ""}} {
		if members[needed.key] == nil {
			return c.wrong(e, "an entry needs a %s%s", needed.key, needed.hint)
		}
	}
	return nil
}

var entryTypes = map[string][]types.Kind{
	"group": {types.StringKind}, "kind": {types.StringKind}, "name": {types.StringKind}, "namespace": {types.StringKind},
}

// members returns the members of a map with the wanted keys and types. It returns nil if one is not, with
// the error, or if a key is computed, which may be any of them. The other texts are the errors.
func (c *entryCheck) members(e ast.Expr, wanted map[string][]types.Kind, unknown, ofType string) (map[string]ast.MapEntry, *Error) {
	members := make(map[string]ast.MapEntry)
	for _, member := range e.AsMap().Entries() {
		entry := member.AsMapEntry()
		if entry.Key().Kind() != ast.LiteralKind {
			return nil, nil
		}
		key, _ := entry.Key().AsLiteral().Value().(string)
		kinds := wanted[key]
		if kinds == nil {
			return nil, c.wrong(entry.Key(), unknown, entry.Key().AsLiteral().Value())
		}
		if t := c.checked.GetType(entry.Value().ID()); !entry.IsOptional() && t.Kind() != types.DynKind && !slices.Contains(kinds, t.Kind()) {
			return nil, c.wrong(entry.Value(), ofType, key, typeNames[kinds[0]], t)
		}
		members[key] = entry
	}
	return members, nil
}

// wrong returns an error at a part of the expression.
func (c *entryCheck) wrong(e ast.Expr, format string, args ...any) *Error {
	return invalidAt(c.checked.SourceInfo(), e.ID(), c.text, oneLine(fmt.Sprintf(format, args...)))
}
