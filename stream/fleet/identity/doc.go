// Package identity verifies members of a fleet: a member proves itself with the projected
// token of its ServiceAccount, and the hub verifies it with the keys of that member's link.
//
// The caller selects the [Verifier] by the name of the link. No claim of a token selects
// keys, so a member cannot pose as another one whose issuer differs. The keys are inline or
// read by OpenID Connect discovery from the issuer, which clusters such as EKS need because
// they rotate their keys.
//
// The package does not know links, tunnels or HTTP servers.
//
// # Concurrency
//
// A Verifier may be used by any goroutine. One discovery runs at a time; other callers wait
// for it or for their context.
package identity
