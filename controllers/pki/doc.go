// Package pki issues and renews the operator's certificates.
//
// Certificates is the serving certificate of the operator's ports. It is kept in a Secret
// that the replicas share, is renewed in time, and its authority is written into the
// caBundle of the operator's APIService and, if wanted, of its webhook.
//
// Replicas race for the Secret by its resource version: a replica whose write
// conflicts serves the certificate that the other one has written. A certificate is renewed in two steps, so
// that no client meets a certificate that it does not trust yet.
//
// docs/architecture.md (Certificates) compares the package with open-policy-agent/cert-controller.
//
// The package does not know GraphViews, reconcilers or the handlers of the ports.
//
// Concurrency: Run is called once. Certificates.Get may be used from any
// goroutine; it waits until Run has read the Secret once.
package pki
