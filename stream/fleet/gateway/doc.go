// Package gateway authenticates requests of a hub at a member, inside the member's tunnels.
//
// The hub names the user in one header that only the hub writes. The gateway puts the hub's
// prefix in front of the user's name and of every group, and asks the member's own API server about
// the rights of that user. So a group of the hub acme has only the rights that RoleBindings in the member
// give to hub:acme:platform, hub:acme:system:masters is an ordinary group, and no process
// needs the right to impersonate. Only GET requests for paths of the stream API pass.
//
// The package does not know tunnels or graphs.
//
// # Concurrency
//
// All of it may be used by any goroutine.
package gateway
