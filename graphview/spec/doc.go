// Package spec compiles the views of GraphViews and of requests on a connection, and
// ReferenceRules.
//
// [Compile] and [CompileRule] check everything at once. An [InvalidError] has one error for each
// mistake, which begins with the path of its field. The result, a [Program] or a [RuleProgram],
// holds the compiled expressions, selectors and paths of packages expr and refs.
//
// The package knows no client, no watch and no content of a graph: the engine decides when to
// evaluate, and charges for it. From package graph it uses the names of kinds, arcs and
// directions. The webhook and kubectl graphview validate therefore need no engine.
//
// # Concurrency
//
// A program is immutable, and may be used by any number of goroutines.
package spec
