// Package troubles runs a fleet of built operators, a hub of two replicas and two members, and breaks
// one thing in each episode: a process, a path of the network, a ClusterLink, a key. Meanwhile objects
// change, and subscribers of both members follow at both replicas of the hub, as clients do.
//
// An episode reports the resets and final words that subscribers received, the time without a stream, and
// the time in which a stream was open, complete and without a warning although it lacked a change. In the
// end all graphs must equal fresh lists of the members.
//
// It knows the command line, manifests, metrics and the stream API, and nothing of the code of the
// operator. `make fleet` runs hundreds of episodes, and `make test` a few.
package troubles
