// Package spec compiles the views of GraphViews and of requests on a connection, and
// ReferenceRules.
//
// [Compile] and [CompileRule] check everything at once. An [InvalidError] has one error for each
// mistake, which begins with the path of its field. The result, a [Program] or a [RuleProgram],
// holds the compiled expressions, selectors and paths of packages expr and refs.
//
// The package does not know clients, watches or the content of a graph, so that the webhook and
// kubectl graphview validate need no engine. The engine decides when to evaluate a program, and
// charges for it. From package graph it uses the names of kinds, arcs and directions.
//
// # Concurrency
//
// A program is immutable, and safe for concurrent use.
package spec
