// Package hostile attacks the built operator with requests that clients, authors of views
// and strangers could send, while a bystander's stream goes on.
//
// Each test prints the number of attempts, the refusals by kind, the memory and the
// connections of the operator at the same time, and the delay of a change at the bystander.
// It asserts that refusals are the ones
// that the documents promise, that the bystander's stream stays open and right,
// and that the operator frees the resources of attackers. It asserts counts, and never times.
//
// The package knows the contract and not the operator's code. The
// operator is built without the race detector, whose own memory would hide the
// operator's.
package hostile
