package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// A node replaces a node in CEL's plan of an expression, to charge the meter for making values or for
// time that grows with the arguments. For all other nodes, eval charges one unit each, and step one
// unit more for each turn of their loop.
type node struct {
	interpreter.InterpretableV2 // the node that it replaces

	exec func(frame *interpreter.ExecutionFrame) ref.Val
}

func (n *node) Exec(frame *interpreter.ExecutionFrame) ref.Val { return n.exec(frame) }

func (n *node) Eval(vars interpreter.Activation) ref.Val { return n.exec(interpreter.AsFrame(vars)) }

// after returns a node that passes the value of another node to then.
func after(of interpreter.InterpretableV2, then func(m *meter, value ref.Val) ref.Val) *node {
	return &node{of, func(frame *interpreter.ExecutionFrame) ref.Val { return then(meterOf(frame), of.Exec(frame)) }}
}

// step returns a node that charges for one turn of a loop.
func step(of interpreter.InterpretableV2, nodes int) *node {
	return &node{of, func(frame *interpreter.ExecutionFrame) ref.Val {
		meterOf(frame).spend(nodes)
		return of.Exec(frame)
	}}
}

// loopRange returns a node for the range of a loop. CEL collects the keys of a map before the first
// turn.
func loopRange(of interpreter.InterpretableV2) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		if entries, ok := value.(traits.Mapper); ok {
			m.chargeAlloc(2 * bytesMade * length(entries))
		}
		return value
	})
}

// key returns a node for a computed index. It refuses lists and maps: CEL writes a missing key into
// its error, and a list may contain another list many times.
func key(of interpreter.InterpretableV2) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		if refused := checkKey(m, value); refused != nil {
			return types.LabelErrNode(of.ID(), types.WrapErr(refused))
		}
		return value
	})
}

// label returns a node for a label or an annotation in a comparison, null if absent.
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

// readText returns a node that charges for reading a text, which CEL looks up in a constant list.
func readText(of interpreter.InterpretableV2) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		if text, ok := value.(types.String); ok {
			m.chargeRead(len(text))
		}
		return value
	})
}

func checkKey(m *meter, value ref.Val) *guardError {
	switch value := value.(type) {
	case types.Int, types.Uint, types.Double, types.Bool, *types.Err, *types.Unknown:
		return nil
	case types.String:
		m.chargeRead(len(value))
		return nil
	}
	return refuse("no such overload: a key is a string, a number or a bool")
}

// maker evaluates a list or map literal, unless all of its parts are constant.
type maker struct {
	id       int64
	parts    []interpreter.InterpretableV2 // elements, or keys and values in turn
	optional []bool                        // by element or entry
	adapter  types.Adapter
}

// entryBytes is the approximate memory for one entry of a map.
const entryBytes = 128

func (k *maker) list(frame *interpreter.ExecutionFrame) ref.Val {
	meterOf(frame).chargeAlloc(48 + 16*len(k.parts))
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
	m.chargeAlloc(48 + entryBytes*len(k.parts)/2)
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
