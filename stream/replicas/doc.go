// Package replicas counts the replicas of an operator by their Leases, as konnectivity counts its
// servers. A hub tells its members that number: a member dials until it has a tunnel to each replica.
//
// Each replica has a Lease in the operator's namespace, named after its pod. All replicas list these
// Leases and renew their own at the same interval. A replica that has missed some renewals is not
// counted, and its Lease is deleted. Renewals and lists are compared, and no clocks: while the API
// server does not answer, the number stays.
//
// Replicas may disagree for a while. Too high a number costs members futile handshakes. Too low a
// number is told again as soon as it is right.
//
// All methods may be called by any goroutine; Run once.
package replicas
