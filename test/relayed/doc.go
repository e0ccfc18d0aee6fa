// Package relayed has an engine's views read by way of another replica, in one process:
// it puts the table, the holder and the edge of package placement between the engine
// and who subscribes. The edge holds nothing, so that all it serves is relayed.
//
// It is for suites that were written for one replica, which run through it unchanged.
package relayed
