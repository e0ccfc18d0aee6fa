package expr

import (
	"fmt"
	"regexp/syntax"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Go's regular expressions are RE2: a match takes time in the product of the length of the text and
// the size of the expression. Both are bounded here.

const (
	// regexCompiling is the cost of compiling one instruction of a regular expression, in units.
	regexCompiling = 10
	// regexMatching is the number of steps of a match that cost one unit.
	regexMatching = 16
)

// boundRegex is for matches and find with a computed pattern.
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

// boundFindingAll is boundRegex for findAll, which returns a list of all matches. Each position in
// the text may be a match.
func boundFindingAll(m *meter, arguments []ref.Val) *guardError {
	if refused := boundRegex(m, arguments); refused != nil {
		return refused
	}
	m.chargeAlloc(foundBytes * (1 + textLength(arguments[0])))
	return nil
}

// foundBytes is the memory for one match in the result of findAll.
const foundBytes = 3 * 16

func matchWork(m *meter, textLength, size int) *guardError {
	if textLength*size > maxWork {
		return refuse("the text is too long for this regular expression")
	}
	m.chargeRead(textLength)
	m.spend(textLength * size / regexMatching)
	return nil
}

// patternOf returns the pattern of a call of matches, find or findAll, if the pattern is constant.
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

// boundedText returns a node for the text of a call with a constant pattern, which charges for the
// match. inspect has bounded the pattern, and CEL compiles it once. all is true for findAll.
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
			m.chargeAlloc(foundBytes * (1 + len(text)))
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
