// Package expr is everything a user writes as text in a view or a rule: CEL
// expressions over resources and objects, label and field selectors, and
// JSONPath. It
// parses and compiles them once, with errors a person can act on, and
// evaluates them many times, within limits.
//
// It deliberately does not know Kubernetes clients, watches, views or graphs;
// an object is a map[string]any that somebody else decoded and stripped. What
// must not be seen (a Secret's data) must not be in that map.
//
// # Text is hostile
//
// Whoever may write a view, or open a view of their own, may write any text.
// Therefore:
//   - texts, their nesting and what macros make of them are bounded (limits.go);
//   - the types of an expression are bounded before the type checker sees it
//     (inspect_types.go), and few expressions are compiled at the same time;
//   - every evaluation has a meter (meter.go), which takes units before something
//     is made or looked at: for each turn of a loop, each list and map, and each
//     call whose time or result grows with its arguments. The same limit bounds
//     time and memory, and the context is asked on the way;
//   - the table of all functions says what bounds each of them (table.go). A test
//     fails when CEL or Kubernetes adds one;
//   - evaluations that become expensive wait for one of a few places;
//   - JSONPath is evaluated by this package, over the tree that client-go's
//     parser makes, within a budget of steps, nodes and bytes.
//
// # Errors never tell about objects
//
// An [*Error] is about a text alone and quotes nothing but it. An
// [*EvaluationError] says which part of the expression failed, and why in words
// that are this package's or the expression's own: what CEL's runtime reports
// may contain values, and is therefore classified and thrown away.
//
// # CEL
//
// The environment is that of Kubernetes 1.37, see k8s.io/apiserver
// pkg/cel/environment, without the authorizer: standard functions and macros,
// lists, strings, sets, two-variable comprehensions, regex, URL, IP, CIDR,
// quantity, semver, format and optional types. The object is obj. The variable
// namespace, a word that CEL reserves, is made possible in reserved.go. A list or
// map written out has values of one type, but in the expressions of a rule, which
// name references or say how an object is: there some values are texts and others
// numbers, and some are known at compile time and others are not.
//
// # JSONPath
//
// The syntax and the meaning are those of kubectl, with these differences: what
// an object does not have is not found, be it a key, an index or a slice beyond
// a list's end, or a filter on null; the members of a map come in the order of
// their keys, so that an unchanged object always gives the same result.
//
// # Concurrency
//
// A compiled expression is immutable and may be used by any number of goroutines at
// once. An [Input] belongs to one goroutine.
package expr
