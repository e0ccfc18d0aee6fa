// Package expr compiles and evaluates the text that users write in a view or a rule: CEL
// expressions over resources and objects, label and field selectors, and JSONPath. A text
// compiles once and is evaluated many times, within limits.
//
// The package does not know Kubernetes clients, watches, views or graphs. An object is a
// map[string]any that the caller decoded. The caller leaves out everything that expressions must
// not see, such as the data of a Secret.
//
// # Text is hostile
//
// A tenant may write any text. Therefore:
//   - texts, their nesting and the expansion of macros are bounded (limits.go);
//   - the types of an expression are bounded before the type checker runs
//     (inspect_types.go), and few expressions compile at the same time;
//   - every evaluation has a meter (meter.go), which takes units before each turn of a
//     loop, each new list or map, and each call whose time or result grows with its
//     arguments. The same limit bounds time and memory. The meter also checks the context;
//   - a table has the bound of each function (table.go). A test fails when CEL
//     or Kubernetes adds a function;
//   - expensive evaluations wait for a turn;
//   - this package evaluates JSONPath itself, over the tree of client-go's parser, within a
//     budget of steps, nodes and bytes.
//
// # Errors contain no values of objects
//
// An [*Error] quotes only the text. An [*EvaluationError] names the part of the expression that
// failed, and gives a reason in fixed words or in words of the expression. Messages of CEL's
// runtime may contain values, so they are classified and dropped.
//
// # CEL
//
// The environment is that of Kubernetes 1.37, see k8s.io/apiserver
// pkg/cel/environment, without the authorizer: standard functions and macros,
// lists, strings, sets, two-variable comprehensions, regex, URL, IP, CIDR,
// quantity, semver, format and optional types. The object is obj. CEL reserves the word
// namespace; reserved.go makes the variable possible. The values of a list or map literal have
// one type, except in the expressions of a rule, which mix strings with numbers and constants
// with computed values.
//
// # JSONPath
//
// The syntax and the meaning are those of kubectl, with two differences. A missing key, an index
// or a slice beyond the end of a list, or a filter on null finds nothing and is no error. The
// members of a map are sorted by key, so an unchanged object always has the same result.
//
// # Concurrency
//
// A compiled expression is immutable and safe for concurrent use. An [Input] belongs to one
// goroutine.
package expr
