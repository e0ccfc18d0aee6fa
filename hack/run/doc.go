// Run is `make run`: it starts a control plane and the operator, applies the
// samples, serves the dashboard, streams the graph of one of the samples to the
// terminal while it keeps changing it, and says how to point kubectl and a browser at
// it. With -fleet it is `make run-fleet`: a hub and two members instead, each with a
// control plane. Ctrl-C stops everything.
//
// It builds nothing (make does) and knows nothing of the operator's insides: it
// runs bin/manager as a cluster would, under the operator's own role, and reads
// the stream as any client would, through the API server.
package main
