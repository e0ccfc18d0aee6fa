// Package wording describes a reference in a word or two: a Pod mounts a ConfigMap, a Service
// selects Pods, a Deployment runs as a ServiceAccount.
//
// A word depends on the field, the kind that has the field and the kind of the target: nothing is stored
// per reference, and kinds without rules have words too. It reads from the referrer to the target.
//
// The package knows names of resources and paths of fields, as package refs writes them. It knows no
// objects and no graph. A test compares its rules with the table of words in docs/measured/words.md.
package wording
