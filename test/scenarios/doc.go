// Package scenarios shows the rules of GraphView one by one: each file in
// testdata is a rule, a view, what happens in a cluster, and what subscribers
// have and were sent after it. testdata/README.md explains the format.
//
// All scenarios share one control plane, without controllers, so that nothing
// moves but what a scenario moves. Each has an engine and namespaces of its own.
// What is expected is written down by hand: unlike the random workloads of the
// other tests, which an oracle judges, a scenario can be read.
//
// The package knows neither the served API nor the controllers: a view's spec
// goes straight to a graphview.Engine.
package scenarios
