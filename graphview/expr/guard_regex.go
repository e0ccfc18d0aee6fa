package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Go's regular expressions are RE2: their time is the product of the text's
// length and the expression's size, never more. Both are bounded here.

// guardRegex guards matches, find and findAll whose pattern is computed.
func guardRegex(arguments []ref.Val) *guardError {
	text, _ := arguments[0].(types.String)
	pattern, _ := arguments[1].(types.String)
	if len(pattern) > MaxTextLength {
		return refuse("%s", regexTooLarge)
	}
	size := regexSize(string(pattern))
	if size > maxRegexSize {
		return refuse("%s", regexTooLarge)
	}
	return regexWork(len(text), size)
}

func regexWork(textLength, size int) *guardError {
	if textLength*size > maxWork {
		return refuse("the text is too long for this regular expression")
	}
	return nil
}

// patternOf is the constant pattern of a call to a regular expression's
// function.
func patternOf(call interpreter.InterpretableCall) (string, bool) {
	switch call.Function() {
	case "matches", "find", "findAll":
	default:
		return "", false
	}
	constant, ok := call.Args()[1].(interpreter.InterpretableConst)
	if !ok {
		return "", false
	}
	pattern, ok := constant.Value().(types.String)
	return string(pattern), ok
}

// boundText bounds the text of such a call, and leaves the call itself to CEL,
// which compiles constant patterns once. The pattern was found small enough
// before compilation.
func boundText(call interpreter.InterpretableCall, pattern string) interpreter.InterpretableV2 {
	arguments := append([]interpreter.InterpretableV2(nil), call.Args()...)
	arguments[0] = &boundedText{InterpretableV2: arguments[0], regexSize: regexSize(pattern)}
	// CEL's optimisation replaces the implementation; without it the call
	// would find none.
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), arguments, nil)
}

// boundedText is an argument that is an error when it is too long.
type boundedText struct {
	interpreter.InterpretableV2

	regexSize int
}

func (b *boundedText) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return b.check(b.InterpretableV2.Exec(frame))
}

func (b *boundedText) Eval(vars interpreter.Activation) ref.Val {
	return b.check(b.InterpretableV2.Eval(vars))
}

func (b *boundedText) check(v ref.Val) ref.Val {
	if text, ok := v.(types.String); ok {
		if refused := regexWork(len(text), b.regexSize); refused != nil {
			return types.WrapErr(refused)
		}
	}
	return v
}
