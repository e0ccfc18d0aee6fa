// Command fleet measures a hub beside its member: processor time, bytes in the tunnel and the time
// of delivery while many subscribers follow one view of the member, and how long a large first graph
// takes when the tunnel has a latency.
//
// It runs built operators, each with a control plane of its own, and talks to them over the network
// only. So it can measure any version of the operator: -manager names its binary.
package main
