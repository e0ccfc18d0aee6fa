// Package faults breaks the connection between the engine and its API server, and the
// API server itself, while a random workload runs, and expects that every subscriber
// ends with the oracle's graph.
//
// A [Proxy] in front of the API server applies [Fault]s to
// requests: it delays and refuses them, truncates or holds back their
// responses, and cuts connections. The tests of the package use these faults, and troubles of the
// cluster itself, in seeded episodes: break, change, heal, and
// compare graphs, watches, goroutines and memory. Troubles of the cluster include an etcd that
// is suspended again and again. Several episodes run at once, each
// with a separate engine and proxy; a trouble of the cluster affects all of them.
// `make faults` runs some hundreds of episodes and prints a line for each, and a
// summary; `make test` runs a few.
//
// A seed determines the faults and the attempted changes. Troubles of the whole cluster
// come from the first of the seeds that run at the same time. Their timing depends on the
// machine, so it may take several runs to repeat a failure.
//
// A Proxy is safe for concurrent use.
package faults
