// Command bench is what `make bench` runs: it measures the operator beside what it is to be
// compared with, on one machine, against one API server, in one run, and makes one
// table of it (docs/benchmarks.md says what each row is, and beside what).
//
// It starts a real control plane (test/env) with a load of applications, which
// is made once for each size and kept in bin/bench, and then measures row by row
// (run.go has the list), never two things at a time. Who is measured is a process
// of its own: the operator, compiled for the run; this program again, under one
// of the names in children; or the peer that is a module of its own, below
// gitops. So nothing of one measure is left when the next begins. A child that
// measures itself writes a sample; one that serves is asked over HTTP.
//
// Where an API server cannot make changes as fast as they are wanted, a replay
// stands in front of it and tells of them.
//
// A run whose subscriber does not end with the graph that test/oracle builds from
// fresh lists fails, however fast it was. What could not be measured is said in
// the table and fails the run, but not the other rows.
//
// Processes measure themselves by /proc, so it runs on Linux. The program knows
// nothing of the operator's insides but the engine's and the served API's exported
// functions, and one metric.
package main
