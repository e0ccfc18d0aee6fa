// Package hub has the clusters of a fleet as a hub knows them: links, the tunnels of their
// members, and their graphs.
//
// A [Link] has the identity with which a member proves itself. The tunnels of a connected member are
// routes to the cluster. A request for a graph of the cluster takes a route, and waits for
// one if there is none: all requests for a link wait for one event, and none of them
// polls.
//
// A hub may have several replicas. Each member dials until it has a tunnel to each replica, so no
// replica sends a request to another. Replicas tell the members how many there are.
//
// The hub has no rights in the member and keeps no graph: package proxy passes requests and
// answers by a route, and the member decides about each user; see package gateway.
//
// The package does not know the API server, the requests, or who may use which cluster.
//
// # Concurrency
//
// A Hub may be used by any goroutine. Its mutex is not held during network I/O.
package hub
