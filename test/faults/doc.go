// Package faults breaks what lies between the engine and its API server, and the
// API server too, while a random workload runs, and wants every subscriber to
// end with the oracle's graph.
//
// A [Proxy] stands in front of the API server and does to requests what a
// [Fault] says: it delays and refuses them, cuts their answers short or holds
// them back, and it cuts connections. The tests beside it take these, and what
// can be done to a cluster itself, in seeded episodes: break, change, heal,
// compare: graphs, and what there is of watches, goroutines and memory. etcd is among
// them: it is made to stand still again and again. Several episodes run at once, each
// in an engine of its own behind a proxy of its own; what happens to the cluster
// happens to all of them.
// `make faults` runs some hundreds of episodes and prints a line for each, and a
// summary; `make test` runs a few.
//
// A seed determines the faults and the attempted changes. Troubles of the whole cluster
// come from the first of the seeds that run at the same time. Their timing depends on the
// machine, so it may take several runs to repeat a failure.
//
// A Proxy is safe for concurrent use.
package faults
