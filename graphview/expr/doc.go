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
//   - every evaluation has a cost limit and notices a cancelled context in
//     comprehensions;
//   - functions whose work or memory CEL's cost model charges only after the
//     fact, or not at all, are checked before they run (guard.go): regular
//     expressions that compile to much, replace and join that multiply text,
//     comparisons of lists that contain themselves many times over;
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
// map written out has values of one type, but in an expression that names
// references: there some are known at compile time and others are not.
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
// What is compiled is immutable and may be used by any number of goroutines at
// once. An [Input] belongs to one goroutine.
package expr
