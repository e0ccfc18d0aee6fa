// Command bench is what `make bench` runs. It measures the operator and the programs that it
// is compared with on one machine, against one API server, in one run, and writes the table
// of docs/measured/benchmarks.md, which describes the rows.
//
// It starts a real control plane (test/env) with a load of applications, which
// is made once for each size and kept in bin/bench, and then measures row by row
// (run.go has the list), one at a time. Each measured program is a separate process, so
// that a measurement leaves nothing behind for the next: the operator, compiled for the
// run; this program again, under a name in children; or the peer below gitops, which is a
// separate module. A child that measures itself writes a sample; a server is asked over
// HTTP.
//
// If an API server cannot make changes fast enough, a replay in front of it sends them.
//
// A run fails, however fast it was, if the subscriber's graph at the end is not the graph
// that test/oracle builds from fresh lists. If a row cannot be measured, the table says so
// and the run fails, after it has measured the other rows.
//
// Processes measure themselves by /proc, so it runs on Linux. The program uses only the
// exported functions of the engine and the served API, and one metric.
package main
