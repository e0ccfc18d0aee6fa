// Package fleet tests a hub and its members, each of them on a control plane of its own:
// what users of the hub see of the members' graphs, and what hostile members, hubs and users
// cannot do.
package fleet
