// Package fleet tests a hub and its members, each of them on a separate control plane:
// the members' graphs for users of the hub, and attacks of hostile members, hubs and
// users.
package fleet
