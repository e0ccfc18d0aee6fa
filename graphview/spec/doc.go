// Package spec compiles what users declare: the views of GraphViews and of requests on
// a connection, and the ReferenceRules.
//
// [Compile] and [CompileRule] check everything at once, and say in an [InvalidError]
// what is wrong where. Each error begins with the path of its field. The result, a
// [Program] or a [RuleProgram], holds the compiled expressions, selectors and paths
// of packages expr and refs.
//
// The package deliberately knows no client, no watch and no graph's content: the
// engine decides what to evaluate and when, and charges for it. Of package graph it
// uses the names of kinds, arcs and directions. So whoever only wants to know whether
// a spec is right, as the webhook and kubectl graphview validate do, needs no engine.
//
// # Concurrency
//
// A program is immutable, and may be used by any number of goroutines.
package spec
