// Command bench is the program of `make bench`. It measures the operator beside the floors and peers
// of docs/measured/benchmarks.md, which describes the rows: on one machine, against one API server, in one
// run. It writes the table of that document.
//
// It starts a real control plane (test/env) with a load of applications, which
// is made once for each size and kept in bin/bench, and then measures the rows in the
// order of run.go, one at a time. Each measured program is a separate process, so
// that a measurement leaves nothing behind for the next: the operator, compiled for the
// run; this program again, under a name in children; or the peer below gitops, which is a
// separate module. A child measures itself and writes a sample.
//
// A replay in front of the API server sends changes faster than the API server makes them.
//
// A run fails, however fast it was, if the subscriber's graph at the end differs from the graph
// that test/oracle builds from fresh lists. If a row cannot be measured, the table says so
// and the run fails, after it has measured the other rows.
//
// Processes read /proc, so the program runs on Linux. It uses only the
// exported functions of the engine, and the metrics of the operator.
package main
