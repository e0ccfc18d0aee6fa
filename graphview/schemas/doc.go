// Package schemas reads what a cluster's OpenAPI documents say of kinds, as far as it
// may tell references.
//
// A document of /openapi/v3 is of one group and version. Every authenticated user may
// read it; its address in the index changes with its contents, so that the index alone
// tells what has changed. [Source] fetches documents, and [Read] takes schemas out of
// one as it arrives: at no time is there more than one schema, and no document. What
// the schemas tell, package refs finds out.
//
// The package does not know views, nor the time to read: its caller decides that. The schemas of
// CustomResourceDefinitions point only to the ones of metadata. Schemas of extension servers point to
// each other, and are held until the document ends.
//
// # Concurrency
//
// A Source may be used by many goroutines. Everything else is a function.
package schemas
