// Stopwatch is `make stopwatch`: it measures the first minute of somebody who has never
// seen this repository, and writes it into docs/benchmarks.md. It clones the repository,
// runs `make run` in the clone, and stops when the address that this prints answers with
// the sample's graph. Then it starts a bare control plane, and stops when the documented
// commands have drawn a graph of one's own.
//
// The control plane stands for the cluster that `kind create cluster` makes. No image is
// pulled, and the operator runs beside the control plane. What this machine has in its
// module cache and its build cache is used; -cold begins with an empty build cache.
package main
