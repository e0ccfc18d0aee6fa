package expr

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// Names of the CEL variables.
const (
	varGroup       = "group"
	varVersion     = "version"
	varResource    = "resource"
	varKind        = "kind"
	varNamespaced  = "namespaced"
	varNamespace   = "namespace"
	varName        = "name"
	varLabels      = "labels"
	varAnnotations = "annotations"
	varObject      = "obj"
)

// noNode is not the id of any node.
const noNode = -1

// environment is a CEL environment and its variables, in the order in which
// messages list them.
type environment struct {
	*cel.Env

	variables []string
	// functions is the result of Env.Functions, which makes a new map for each call.
	functions map[string]*decls.FunctionDecl
}

// The environments take some milliseconds to build, so they are built when they
// are first needed.
var (
	resourceEnvironment = sync.OnceValues(func() (*environment, error) {
		return newEnvironment(baseEnvironment,
			variable{varGroup, cel.StringType},
			variable{varVersion, cel.StringType},
			variable{varResource, cel.StringType},
			variable{varKind, cel.StringType},
			variable{varNamespaced, cel.BoolType},
		)
	})
	objectEnvironment = sync.OnceValues(func() (*environment, error) {
		return newEnvironment(baseEnvironment, objectVariableTypes...)
	})
	// ruleEnvironment is for the expressions of a rule. A map literal may mix strings,
	// numbers and values of a type known only at run time.
	ruleEnvironment = sync.OnceValues(func() (*environment, error) {
		return newEnvironment(mixedEnvironment, objectVariableTypes...)
	})
)

var objectVariableTypes = []variable{
	{varObject, cel.DynType},
	{varGroup, cel.StringType},
	{varVersion, cel.StringType},
	{varResource, cel.StringType},
	{varKind, cel.StringType},
	{varNamespace, cel.StringType},
	{varName, cel.StringType},
	{varLabels, cel.MapType(cel.StringType, cel.StringType)},
	{varAnnotations, cel.MapType(cel.StringType, cel.StringType)},
}

type variable struct {
	name string
	kind *cel.Type
}

func newEnvironment(on func() (*cel.Env, error), variables ...variable) (*environment, error) {
	base, err := on()
	if err != nil {
		return nil, err
	}
	options := make([]cel.EnvOption, 0, len(variables))
	names := make([]string, 0, len(variables))
	for _, v := range variables {
		options = append(options, cel.Variable(unreserve(v.name), v.kind))
		names = append(names, v.name)
	}
	extended, err := base.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("declare CEL variables: %w", err)
	}
	return &environment{Env: extended, variables: names, functions: extended.Functions()}, nil
}

// baseEnvironment is that of k8s.io/apiserver/pkg/cel/environment for Kubernetes
// 1.37, without the authorizer. The package itself is not used, because it cannot
// leave out the authorizer, and because the functions that a user may call must
// not depend on the feature gates of this process.
var baseEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	return newBase(cel.HomogeneousAggregateLiterals(), cel.ASTValidators(cel.ValidateHomogeneousAggregateLiterals()))
})

// mixedEnvironment is the same, but allows values of several types in one list
// or map literal.
var mixedEnvironment = sync.OnceValues(func() (*cel.Env, error) { return newBase() })

// labelError writes noNode into the global error value that CEL has for calls without an overload.
// Otherwise CEL writes the node of the first such call into it: a data race, and a wrong node in later
// errors.
var labelError = sync.OnceFunc(func() { types.LabelErrNode(noNode, types.NoSuchOverloadErr()) })

func newBase(further ...cel.EnvOption) (*cel.Env, error) {
	labelError()
	env, err := cel.NewEnv(append(append(further, marks()...),
		cel.ParserRecursionLimit(maxNesting),
		cel.ParserExpressionSizeLimit(MaxTextLength),

		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
			cel.ValidateRegexLiterals(),
		),

		ext.Strings(ext.StringsVersion(2), ext.StringsMaxPrecision(maxPrecision)),
		ext.Sets(),
		ext.Lists(ext.ListsVersion(3), ext.ListsMaxRangeSize(maxRange)),
		ext.TwoVarComprehensions(),
		library.Lists(library.ListsVersion(1)),
		library.URLs(),
		library.Regex(),
		library.Quantity(),
		library.IP(),
		library.CIDR(),
		library.Format(),
		library.SemverLib(library.SemverVersion(1)),
	)...)
	if err != nil {
		return nil, fmt.Errorf("build CEL environment: %w", err)
	}
	return env, nil
}
