// Run is the program of `make run`: it starts a control plane and the operator, applies the
// samples, writes the status of their pods in place of a kubelet, serves the dashboard, prints
// commands for kubectl and the address for a browser, and then changes one of the samples all the time. With -fleet it is `make run-fleet`: a hub
// and two members, each with a control plane. Ctrl-C stops everything.
//
// It compiles nothing (make does) and does not know the operator's code: it
// runs bin/manager as a cluster would, under the operator's own role.
package main
