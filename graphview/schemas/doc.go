// Package schemas reads the schemas of kinds from a cluster's OpenAPI documents, as far as they help to
// find references.
//
// /openapi/v3 has one document for each group and version, which every authenticated user may read. The
// address of a document changes with its contents, so that the index alone shows which ones changed.
// [Source] fetches documents. [Read] decodes a document while it arrives, one schema at a time, and
// never holds a whole document. Package refs finds the references in the schemas.
//
// The package does not know views; its caller decides when to read. The schemas of
// CustomResourceDefinitions point only to those of metadata. Schemas of extension servers point to each
// other, and are held until the document ends.
//
// # Concurrency
//
// A Source may be used by many goroutines. Everything else is a function.
package schemas
