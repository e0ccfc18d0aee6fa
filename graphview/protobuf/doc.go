// Package protobuf writes objects that an API server encodes in Protobuf as the JSON that the
// same server would send, byte for byte and without white space. It does so for the kinds of
// k8s.io/api: custom resources and aggregated APIs are JSON already. Kubernetes 1.33 also writes
// `creationTimestamp: null` into templates, which the encoded object does not tell from absent, and which
// 1.34 and newer leave out: so does this package.
//
// [ForKind] makes a table of a Go type from the struct tags that client-go's own encodings use. A [Reader]
// goes through the encoded fields once for their places, and then through the table, which has the order
// of JSON. It builds no object, and does not look at the bytes of managedFields.
//
// Nothing is left out silently: a field, or an encoding, that the table does not have is an
// [Error]. An API server that is newer than k8s.io/api may send such fields.
//
// A Reader belongs to one goroutine. Tables are immutable and shared.
package protobuf
