// Package proxy passes requests for graphs of another cluster to the stream API of that
// cluster, and its answers back.
//
// Neither side is trusted. A new request is made, with the headers that it may have and the
// user in a header that only the hub writes; see package gateway. An answer has the headers and
// content types that it may have, so that no bytes of a member are HTML at the hub's origin.
// Everything that the member's own server serves works through the hub by that alone:
// responses, streams and WebSockets.
//
// [Lines] reads the messages of one graph from a stream of JSON lines, for a connection of the
// hub that has graphs of several clusters.
//
// The package does not know tunnels or who may open which cluster.
package proxy
