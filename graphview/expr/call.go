package expr

import (
	"fmt"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// guardError refuses a call. Its message contains no values.
type guardError struct{ message string }

func (e *guardError) Error() string { return e.message }

func refuse(format string, arguments ...any) *guardError {
	return &guardError{fmt.Sprintf(format, arguments...)}
}

// metered returns a node for a call whose time or result grows with its arguments. The node charges
// for the call before it makes the call.
func (p *planner) metered(of interpreter.InterpretableCall, b bound) (interpreter.InterpretableV2, error) {
	run, trait, err := p.implementation(of)
	if err != nil {
		return nil, err
	}
	id, args := of.ID(), of.Args()
	return &node{of, func(frame *interpreter.ExecutionFrame) ref.Val {
		values := make([]ref.Val, len(args))
		for i, arg := range args {
			values[i] = arg.Exec(frame)
			if types.IsUnknownOrError(values[i]) {
				return values[i]
			}
		}
		if refused := b(meterOf(frame), values); refused != nil {
			return types.LabelErrNode(id, types.WrapErr(refused))
		}
		// CEL selects the overload in the same way.
		first := values[0]
		if run != nil && (trait == 0 || first.Type().HasTrait(trait)) {
			return types.LabelErrNode(id, run(values...))
		}
		if receiver, ok := first.(traits.Receiver); ok && first.Type().HasTrait(traits.ReceiverType) {
			return types.LabelErrNode(id, receiver.Receive(of.Function(), of.OverloadID(), values[1:]))
		}
		return types.NewErrWithNodeID(id, "no such overload: %s", of.Function())
	}}, nil
}

// implementation returns the function that a call runs, and the trait that its first argument must
// have, 0 for none.
func (p *planner) implementation(of interpreter.InterpretableCall) (run functions.FunctionOp, trait int, err error) {
	function := of.Function()
	switch function {
	case operators.Equals:
		return func(a ...ref.Val) ref.Val { return types.Equal(a[0], a[1]) }, 0, nil
	case operators.NotEquals:
		return func(a ...ref.Val) ref.Val { return types.Bool(types.Equal(a[0], a[1]) != types.True) }, 0, nil
	}
	bindings, err := p.functions[function].Bindings()
	if err != nil {
		return nil, 0, fmt.Errorf("implementation of %s: %w", function, err)
	}
	for _, name := range []string{of.OverloadID(), function} {
		for _, binding := range bindings {
			if binding.Operator != name {
				continue
			}
			switch arity := len(of.Args()); {
			case arity == 1 && binding.Unary != nil:
				run = func(a ...ref.Val) ref.Val { return binding.Unary(a[0]) }
			case arity == 2 && binding.Binary != nil:
				run = func(a ...ref.Val) ref.Val { return binding.Binary(a[0], a[1]) }
			case binding.Function != nil:
				run = binding.Function
			default:
				continue
			}
			if function == operators.Add {
				run = p.concatenate(run)
			}
			return run, binding.OperandTrait, nil
		}
	}
	return nil, 0, fmt.Errorf("implementation of %s: there is none", function)
}

// concatenate returns a + that copies two lists into one. CEL's own + makes a tree of lists, in which
// the access to an element takes longer with the depth. The result of a loop grows in place.
func (p *planner) concatenate(otherwise functions.FunctionOp) functions.FunctionOp {
	return func(a ...ref.Val) ref.Val {
		if _, grows := a[0].(traits.MutableLister); grows {
			return otherwise(a...)
		}
		left, ok := a[0].(traits.Lister)
		right, both := a[1].(traits.Lister)
		if !ok || !both {
			return otherwise(a...)
		}
		values := make([]ref.Val, 0, length(left)+length(right))
		for _, list := range [...]traits.Lister{left, right} {
			for it := list.Iterator(); it.HasNext() == types.True; {
				values = append(values, it.Next())
			}
		}
		return types.NewRefValList(p.adapter, values)
	}
}
