// Package gateway serves the graphs of a member to its hub, inside the member's tunnels.
//
// The hub names the user in the body of a message. The gateway puts the hub's prefix in front
// of the user's name and of every group, and asks the member's own API server what that user
// may see. So a RoleBinding of hub:acme:platform is all that this group of the hub acme has in
// the member, hub:acme:system:masters is an ordinary group, and no process needs the right to
// impersonate. Answers that a hub sends instead of a user are refused.
//
// The package cannot dial. It does not know tunnels.
//
// # Concurrency
//
// A Gateway may be used by any goroutine.
package gateway
