package expr

import (
	"fmt"
	"regexp/syntax"
)

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
