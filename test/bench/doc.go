// Command bench is what `make bench` runs: it measures the operator beside what it is to be
// compared with, on one machine, against one API server, in one run.
//
// It starts a real control plane (test/env), creates a load of applications
// once, and then measures, a few rounds long and each in a process of its own:
//
//   - ours: bin/manager as a cluster would run it, with one GraphView over the
//     load and one WebSocket subscriber; and the engine alone, in a process that
//     can look at its own heap;
//   - the floor: a client that lists the same resources and only counts bytes;
//   - the peer: client-go's dynamic informers, as they come and without
//     managedFields.
//
// The medians go to the terminal and to docs/benchmarks.md. A run whose
// subscriber did not end with the graph that test/oracle builds from fresh lists
// fails, however fast it was.
//
// Processes measure themselves by /proc, so it runs on Linux. What is measured
// is started by this program again, under the names in children: nothing of one
// round is left when the next begins. The program knows nothing of the
// operator's insides but the engine's exported methods.
package main
