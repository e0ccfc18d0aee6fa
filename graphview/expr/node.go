package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// CEL evaluates the plan of an expression, except for the nodes in this file. These charge the
// meter: they make values, or take longer for larger arguments. All other nodes are charged once
// by the number of nodes, and once more for each turn of a loop.

// step is one turn of a loop.
type step struct {
	interpreter.InterpretableV2

	nodes int
}

func (s *step) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	meterOf(frame).spend(s.nodes)
	return s.InterpretableV2.Exec(frame)
}

func (s *step) Eval(vars interpreter.Activation) ref.Val { return s.Exec(interpreter.AsFrame(vars)) }

// loopRange is what a loop goes through. The keys of a map are gathered before the
// first turn.
type loopRange struct{ interpreter.InterpretableV2 }

func (r *loopRange) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := r.InterpretableV2.Exec(frame)
	if m, ok := value.(traits.Mapper); ok {
		meterOf(frame).makes(2 * bytesMade * length(m))
	}
	return value
}

func (r *loopRange) Eval(vars interpreter.Activation) ref.Val {
	return r.Exec(interpreter.AsFrame(vars))
}

// key is a computed index. CEL's errors write out what is not there, so it must be
// no list or map, which may contain itself many times over.
type key struct{ interpreter.InterpretableV2 }

func (k *key) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := k.InterpretableV2.Exec(frame)
	if refused := checkKey(meterOf(frame), value); refused != nil {
		return types.LabelErrNode(k.ID(), types.WrapErr(refused))
	}
	return value
}

func (k *key) Eval(vars interpreter.Activation) ref.Val { return k.Exec(interpreter.AsFrame(vars)) }

// label is a label or an annotation that is compared.
type label struct {
	interpreter.InterpretableV2

	of, name interpreter.InterpretableV2
}

func (l *label) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	of, name := l.of.Exec(frame), l.name.Exec(frame)
	if types.IsUnknownOrError(name) {
		return name
	}
	if m, ok := of.(traits.Mapper); ok {
		if value, found := m.Find(name); found {
			return value
		}
	}
	return types.NullValue
}

func (l *label) Eval(vars interpreter.Activation) ref.Val { return l.Exec(interpreter.AsFrame(vars)) }

// readText is a value that a constant is compared with, or looked up in.
type readText struct{ interpreter.InterpretableV2 }

func (r *readText) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := r.InterpretableV2.Exec(frame)
	if text, ok := value.(types.String); ok {
		meterOf(frame).reads(len(text))
	}
	return value
}

func (r *readText) Eval(vars interpreter.Activation) ref.Val {
	return r.Exec(interpreter.AsFrame(vars))
}

func checkKey(m *meter, value ref.Val) *guardError {
	switch value := value.(type) {
	case types.Int, types.Uint, types.Double, types.Bool, *types.Err, *types.Unknown:
		return nil
	case types.String:
		m.reads(len(value))
		return nil
	}
	return refuse("no such overload: a key is a string, a number or a bool")
}

// maker is a list or a map that is written out, unless all of it is constant.
type maker struct {
	id       int64
	isMap    bool
	parts    []interpreter.InterpretableV2 // of a map keys and values in turn
	optional []bool                        // by element or entry
	adapter  types.Adapter
}

func (k *maker) ID() int64 { return k.id }

func (k *maker) Eval(vars interpreter.Activation) ref.Val {
	return k.Exec(interpreter.AsFrame(vars))
}

// A map needs some 100 bytes for each entry.
const entryBytes = 128

func (k *maker) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	m := meterOf(frame)
	if k.isMap {
		m.makes(48 + entryBytes*len(k.parts)/2)
		return k.entries(frame, m)
	}
	m.makes(48 + 16*len(k.parts))
	values := make([]ref.Val, 0, len(k.parts))
	for i, part := range k.parts {
		value := part.Exec(frame)
		if types.IsUnknownOrError(value) {
			return value
		}
		if value = k.unwrap(i, value); value == nil {
			continue
		}
		if types.IsUnknownOrError(value) {
			return value
		}
		values = append(values, value)
	}
	return types.NewRefValList(k.adapter, values)
}

func (k *maker) entries(frame *interpreter.ExecutionFrame, m *meter) ref.Val {
	entries := make(map[ref.Val]ref.Val, len(k.parts)/2)
	for i := 0; i < len(k.parts); i += 2 {
		name := k.parts[i].Exec(frame)
		if types.IsUnknownOrError(name) {
			return name
		}
		if refused := checkKey(m, name); refused != nil {
			return types.LabelErrNode(k.id, types.WrapErr(refused))
		}
		value := k.parts[i+1].Exec(frame)
		if types.IsUnknownOrError(value) {
			return value
		}
		if value = k.unwrap(i/2, value); value == nil {
			delete(entries, name)
			continue
		}
		if types.IsUnknownOrError(value) {
			return value
		}
		entries[name] = value
	}
	return types.NewRefValMap(k.adapter, entries)
}

// unwrap returns the value of an element, nil for an optional element without a value.
func (k *maker) unwrap(i int, value ref.Val) ref.Val {
	if i >= len(k.optional) || !k.optional[i] {
		return value
	}
	optional, ok := value.(*types.Optional)
	switch {
	case !ok:
		return types.LabelErrNode(k.id, types.WrapErr(refuse("no such overload: what follows ? must be an optional value")))
	case !optional.HasValue():
		return nil
	}
	return optional.GetValue()
}
