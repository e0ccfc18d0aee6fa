// Package mine reads a folder of manifests and tells which references the objects
// have, from nothing but the manifests: a value is the name of an object that is
// there, a key says a kind, the schema of a CustomResourceDefinition describes the
// field, a kind stands beside a name.
//
// It is what the product's references are measured against, so it knows nothing of
// them: neither the table nor the conventions, and no package of the project.
package mine
