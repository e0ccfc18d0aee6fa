// Package pki keeps the operator's certificates and keys.
//
// Certificates is the serving certificate of the operator's ports. It is kept in a Secret
// that the replicas share, is renewed in time, and its authority is written into the
// caBundle of the operator's APIService and, if wanted, of its webhook. PeerKeys are the
// certificate and the key that replicas use among each other if they share views; they are
// kept in a Secret of their own.
//
// Both survive races of replicas by the Secret's resource version: a replica whose write
// conflicts takes what the other one has written. A certificate is renewed in two steps, so
// that no client meets a certificate that it does not trust yet.
//
// The package does not know GraphViews, reconcilers or what is served.
//
// Concurrency: Run is called once. Certificates.Get and PeerKeys.TLS may be used from any
// goroutine; Get waits until Run has read the Secret once.
package pki
