package oracle

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// expression is a compiled CEL expression, without any limits.
type expression struct{ program cel.Program }

// language is Kubernetes' CEL with the variables of all kinds of expressions;
// the oracle does not check which of them a kind allows.
var language = sync.OnceValues(func() (*cel.Env, error) {
	version := environment.DefaultCompatibilityVersion()
	set, err := environment.MustBaseEnvSet(version).Extend(environment.VersionedOptions{
		IntroducedVersion: version,
		EnvOptions: []cel.EnvOption{
			cel.Variable("group", cel.StringType), cel.Variable("version", cel.StringType), cel.Variable("resource", cel.StringType),
			cel.Variable("namespaced", cel.BoolType),
			cel.Variable("obj", cel.DynType), cel.Variable("namespace", cel.StringType), cel.Variable("name", cel.StringType),
			cel.Variable("labels", cel.MapType(cel.StringType, cel.StringType)),
			cel.Variable("annotations", cel.MapType(cel.StringType, cel.StringType)),
		},
	})
	if err != nil {
		return nil, err
	}
	return set.Env(environment.StoredExpressions)
})

func compile(text string) (*expression, error) {
	env, err := language()
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	program, err := programOf(env, text)
	return &expression{program}, err
}

func programOf(env *cel.Env, text string) (cel.Program, error) {
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compile %q: %w", text, issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		return nil, fmt.Errorf("compile %q: %w", text, err)
	}
	return program, nil
}

// holds reports whether the expression is true. An error counts as false.
func (e *expression) holds(values map[string]any) bool {
	result, _, err := e.program.Eval(values)
	if err != nil {
		return false
	}
	holds, _ := result.Value().(bool)
	return holds
}
