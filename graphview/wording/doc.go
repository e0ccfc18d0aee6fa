// Package wording describes a reference in a word or two: a Pod mounts a ConfigMap, a Service
// selects Pods, a Deployment runs as a ServiceAccount.
//
// A word is a function of the field, of the kind that has the field and of the kind of the target:
// nothing is stored per reference, and kinds without rules have words too. It reads from the
// referrer to the target.
//
// The package knows names of resources and paths of fields, as package refs writes
// them. It knows no objects and no graph. Its rules are the table of words in
// docs/references.md, which a test compares with them.
package wording
