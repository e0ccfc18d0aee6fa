// Package wording says in a word or two what a reference means: a Pod mounts a
// ConfigMap, a Service selects Pods, a Deployment runs as a ServiceAccount.
//
// A word is a function of the field that refers, of the kind that has it and of the
// kind that it leads to: nothing is kept per reference, and kinds that nobody listed
// have words too. It reads from the referrer to what it refers to.
//
// The package knows names of resources and paths of fields, as package refs writes
// them. It knows no objects and no graph. Its rules are the table of words in
// docs/references.md, which a test compares with them.
package wording
