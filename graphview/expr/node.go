package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// CEL evaluates the plan of an expression, except for these nodes. They charge the meter: they make
// values, or take longer for larger arguments. All other nodes are charged once by the number of
// nodes, and once more for each turn of a loop.
type node struct {
	interpreter.InterpretableV2 // in whose place it is

	exec func(frame *interpreter.ExecutionFrame) ref.Val
}

func (n *node) Exec(frame *interpreter.ExecutionFrame) ref.Val { return n.exec(frame) }

func (n *node) Eval(vars interpreter.Activation) ref.Val { return n.exec(interpreter.AsFrame(vars)) }

// after is a node whose value is that of another, which is passed to then.
func after(of interpreter.InterpretableV2, then func(m *meter, value ref.Val) ref.Val) *node {
	return &node{of, func(frame *interpreter.ExecutionFrame) ref.Val { return then(meterOf(frame), of.Exec(frame)) }}
}

// step is one turn of a loop.
func step(of interpreter.InterpretableV2, nodes int) *node {
	return &node{of, func(frame *interpreter.ExecutionFrame) ref.Val {
		meterOf(frame).spend(nodes)
		return of.Exec(frame)
	}}
}

// loopRange is what a loop goes through. The keys of a map are gathered before the
// first turn.
func loopRange(of interpreter.InterpretableV2) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		if entries, ok := value.(traits.Mapper); ok {
			m.makes(2 * bytesMade * length(entries))
		}
		return value
	})
}

// key is a computed index. CEL's errors write out what is not there, so it must be
// no list or map, which may contain itself many times over.
func key(of interpreter.InterpretableV2) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		if refused := checkKey(m, value); refused != nil {
			return types.LabelErrNode(of.ID(), types.WrapErr(refused))
		}
		return value
	})
}

// label is a label or an annotation that is compared.
func label(call interpreter.InterpretableCall) *node {
	of, name := call.Args()[0], call.Args()[1]
	return &node{call, func(frame *interpreter.ExecutionFrame) ref.Val {
		of, name := of.Exec(frame), name.Exec(frame)
		if types.IsUnknownOrError(name) {
			return name
		}
		if m, ok := of.(traits.Mapper); ok {
			if value, found := m.Find(name); found {
				return value
			}
		}
		return types.NullValue
	}}
}

// readText is a value that a constant is compared with, or looked up in.
func readText(of interpreter.InterpretableV2) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		if text, ok := value.(types.String); ok {
			m.reads(len(text))
		}
		return value
	})
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
	parts    []interpreter.InterpretableV2 // of a map keys and values in turn
	optional []bool                        // by element or entry
	adapter  types.Adapter
}

// A map needs some 100 bytes for each entry.
const entryBytes = 128

func (k *maker) list(frame *interpreter.ExecutionFrame) ref.Val {
	meterOf(frame).makes(48 + 16*len(k.parts))
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

func (k *maker) entries(frame *interpreter.ExecutionFrame) ref.Val {
	m := meterOf(frame)
	m.makes(48 + entryBytes*len(k.parts)/2)
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
