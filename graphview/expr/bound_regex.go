package expr

import (
	"fmt"
	"regexp/syntax"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Go's regular expressions are RE2: their time is the product of the text's
// length and the expression's size, never more. Both are bounded here.

const (
	// regexCompiling is what compiling one instruction of a regular expression costs.
	regexCompiling = 10
	// regexMatching are the steps of a match that one unit pays for.
	regexMatching = 16
)

// boundRegex is for matches, find and findAll whose pattern is computed.
func boundRegex(m *meter, arguments []ref.Val) *guardError {
	pattern, _ := arguments[1].(types.String)
	if len(pattern) > MaxTextLength {
		return refuse("%s", regexTooLarge)
	}
	m.spend(len(pattern))
	size := regexSize(string(pattern))
	if size > maxRegexSize {
		return refuse("%s", regexTooLarge)
	}
	m.spend(regexCompiling * (len(pattern) + size))
	return matchWork(m, textLength(arguments[0]), size)
}

// boundFindingAll is boundRegex for what gives a list of what is found, which may
// be each place of the text.
func boundFindingAll(m *meter, arguments []ref.Val) *guardError {
	if refused := boundRegex(m, arguments); refused != nil {
		return refused
	}
	m.makes(foundBytes * (1 + textLength(arguments[0])))
	return nil
}

// foundBytes is what is made for each string that is found.
const foundBytes = 3 * 16

func matchWork(m *meter, textLength, size int) *guardError {
	if textLength*size > maxWork {
		return refuse("the text is too long for this regular expression")
	}
	m.reads(textLength)
	m.spend(textLength * size / regexMatching)
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

// boundedText is the text of such a call, whose pattern was found small enough before compilation, and
// is compiled once. all: what is found is made.
func boundedText(of interpreter.InterpretableV2, regexSize int, all bool) *node {
	return after(of, func(m *meter, value ref.Val) ref.Val {
		text, ok := value.(types.String)
		if !ok {
			return value
		}
		if refused := matchWork(m, len(text), regexSize); refused != nil {
			return types.WrapErr(refused)
		}
		if all {
			m.makes(foundBytes * (1 + len(text)))
		}
		return value
	})
}

var regexTooLarge = fmt.Sprintf("regular expressions are too large: with their repetitions written out they have more than %d parts", maxRegexSize)

// regexSize estimates the number of instructions that a regular expression compiles to, without
// compiling it. It returns 0 if the expression does not parse: the compiler has a better error.
func regexSize(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return instructions(parsed)
}

func instructions(re *syntax.Regexp) int {
	total := 1
	if re.Op == syntax.OpLiteral {
		total = len(re.Rune)
	}
	for _, sub := range re.Sub {
		// No overflow: the parser bounds the product of nested repetitions.
		total += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		total *= max(re.Min, re.Max, 1)
	}
	return total
}
