// Package schema describes the fields of a kind, as far as an OpenAPI schema may
// tell references, and recognises the types of Kubernetes by the fields that they have.
//
// It does not know documents, clients or references: package schemas decodes
// documents into a [Schema], and package refs makes rules of it.
//
// A Schema that is not modified is safe for concurrent use.
package schema
