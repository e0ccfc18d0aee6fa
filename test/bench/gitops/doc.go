// Command gitops is a peer of the benchmark: Argo CD's gitops-engine cluster
// cache over the same resources. It is a module of its own, so that nothing of
// it comes into the operator's go.mod, and a program of its own, compiled by
// the benchmark when it is asked for.
//
// It takes the task of the benchmark's other processes that measure
// themselves, and writes the same sample: see test/bench/child.go and sample.go.
package main
