package expr

import celconfig "k8s.io/apiserver/pkg/apis/cel"

// Limits of what a user may write.
const (
	// MaxTextLength is how many bytes an expression, a selector or a JSONPath
	// may have.
	MaxTextLength = 10 << 10

	// maxNesting is how deep a CEL expression may nest, less than CEL's default
	// of 250, since types nest with it.
	maxNesting = 100

	// maxLiterals is how many lists and maps an expression may write out, and
	// maxLoops how many macros that loop it may call. The type checker's work
	// grows with the square of both; a text of MaxTextLength could take seconds
	// and a gigabyte.
	maxLiterals = 2_000
	maxLoops    = 100

	// maxGenerics is how many overloads that take any type an expression may call,
	// all that a function has for each call. The type checker's work grows with the
	// square of it.
	maxGenerics = 1_000

	// maxType is how many parts the type of any part of an expression may have,
	// written out.
	maxType = 32

	// maxCopies is how many syntax nodes macros may add to an expression by
	// copying. optMap and optFlatMap copy what they are called on, so that each
	// further one in a chain doubles the expression.
	maxCopies = 256

	// maxRegexSize is how many instructions the regular expressions of an
	// expression may compile to. Repetitions multiply: a short one can ask for
	// hundreds of megabytes.
	maxRegexSize = 5_000

	// maxPrecision is how many digits format() may be asked for.
	maxPrecision = 100
)

// Limits of one evaluation.
const (
	// CostLimit is what one evaluation of a CEL expression may cost, in units: as
	// many as Kubernetes allows one validation expression, and about a tenth of a
	// second at worst. Typical selectors cost less than a hundred.
	CostLimit = celconfig.PerCallLimit

	// maxStringLength is the maximum length of a string that a function makes, in bytes. It is more
	// than the size of an object in etcd.
	maxStringLength = 4 << 20

	// maxParsed is the maximum length of a text that is parsed as a number, a time, an address or a
	// URL, in bytes.
	maxParsed = 4 << 10

	// maxExponent is the maximum number of digits in the exponent of a quantity.
	maxExponent = 2

	// maxWork is how many elementary steps one call of a function may take
	// which grows with the product of its arguments, a fraction of a second.
	// CEL cannot interrupt a function, only the loop around it.
	maxWork = 50_000_000

	// maxCompared is how many values one comparison may look at.
	maxCompared = 250_000

	// maxRange is how many elements lists.range may make.
	maxRange = 10_000
)

// Limits of one JSONPath on one object.
const (
	// maxPathSteps is how many values it may look at.
	maxPathSteps = 200_000

	// maxPathNodes is how many nodes it may find.
	maxPathNodes = 10_000
)
