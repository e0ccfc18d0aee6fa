// Run is `make run`: it starts a control plane and the operator, applies the
// samples, serves the dashboard, says how to point kubectl and a browser at it, and
// changes one of the samples from then on. With -fleet it is `make run-fleet`: a hub
// and two members instead, each with a control plane. Ctrl-C stops everything.
//
// It builds nothing (make does) and knows nothing of the operator's insides: it
// runs bin/manager as a cluster would, under the operator's own role.
package main
