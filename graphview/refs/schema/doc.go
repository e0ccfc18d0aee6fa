// Package schema holds the parts of a kind's OpenAPI schema that help to find references, and recognises
// the types of Kubernetes by their fields.
//
// It does not know documents, clients or references: package schemas decodes documents into a [Schema],
// and package refs derives rules from it.
//
// A Schema that is not modified is safe for concurrent use.
package schema
