package expr

import celconfig "k8s.io/apiserver/pkg/apis/cel"

// Limits of the texts of users.
const (
	// MaxTextLength is the maximum length of an expression, a selector or a
	// JSONPath, in bytes.
	MaxTextLength = 10 << 10

	// maxNesting is the maximum depth of a CEL expression. It is less than CEL's
	// default of 250, since types nest as deeply.
	maxNesting = 100

	// maxLiterals is the maximum number of list and map literals in an expression,
	// and maxLoops that of macros that loop. The type checker's work grows with the
	// square of both: a text of MaxTextLength could take seconds and a gigabyte.
	maxLiterals = 2_000
	maxLoops    = 100

	// maxGenerics is the maximum number of overloads that take any type, summed over
	// all calls in an expression. A call counts all such overloads of its function.
	// The type checker's work grows with the square of the sum.
	maxGenerics = 1_000

	// maxType is the maximum size of the type of any part of an expression, see
	// typeSizes.
	maxType = 32

	// maxCopies is the maximum number of nodes that macros add to an expression by
	// copying. optMap and optFlatMap copy their target, so that each further one in
	// a chain doubles the expression.
	maxCopies = 256

	// maxRegexSize is the maximum number of instructions in the compiled regular
	// expressions of an expression. Repetitions multiply: a short pattern can take
	// hundreds of megabytes.
	maxRegexSize = 5_000

	// maxPrecision is the maximum number of digits for format().
	maxPrecision = 100
)

// Limits of one evaluation.
const (
	// CostLimit is the maximum cost of one evaluation of a CEL expression, in units.
	// It is the limit of Kubernetes for one validation expression, and about a tenth
	// of a second at worst. Typical selectors cost less than a hundred.
	CostLimit = celconfig.PerCallLimit

	// maxStringLength is the maximum length of a string that a function makes, in bytes. It is more
	// than the size of an object in etcd.
	maxStringLength = 4 << 20

	// maxParsed is the maximum length of a text that is parsed as a number, a time, an address or a
	// URL, in bytes.
	maxParsed = 4 << 10

	// maxExponent is the maximum number of digits in the exponent of a quantity.
	maxExponent = 2

	// maxWork is the maximum number of elementary steps of a call whose time grows
	// with the product of its arguments. They take a fraction of a second. CEL cannot
	// interrupt a function, only the loop around it.
	maxWork = 50_000_000

	// maxCompared is the maximum number of values that one comparison reads.
	maxCompared = 250_000

	// maxRange is the maximum number of elements in the result of lists.range.
	maxRange = 10_000
)

// Limits of one JSONPath on one object.
const (
	// maxPathSteps is the maximum number of values that are visited.
	maxPathSteps = 200_000

	// maxPathNodes is the maximum number of nodes that are found.
	maxPathNodes = 10_000
)
