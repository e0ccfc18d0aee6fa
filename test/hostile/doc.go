// Package hostile attacks the built operator with what clients, authors of views
// and strangers could send it, while a bystander's stream goes on.
//
// Each test prints how much was tried, what of it was refused and how, what the
// operator held meanwhile, and how long a change took to reach the bystander.
// Times are printed and never asserted. Asserted is that refusals are the ones
// that the documents promise, that the bystander's stream stays open and right,
// and that what attackers held is given back: counts, not clocks.
//
// The package knows the contract and nothing of the operator's insides. The
// operator is built without the race detector, whose own memory would hide the
// operator's.
package hostile
