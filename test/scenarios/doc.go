// Package scenarios shows the rules of GraphView one by one. Each file in testdata has a
// rule, a view, events in a cluster, and the graph and messages that subscribers get.
// testdata/README.md explains the format.
//
// All scenarios share one control plane without controllers, so that only the scenario
// changes objects. Each has its own engine and namespaces. The expectations are written by
// hand: unlike the random workloads of other tests, which an oracle judges, a scenario can
// be read.
//
// The package uses neither the served API nor the controllers: it passes the spec of a view
// to a graphview.Engine.
package scenarios
