// Package v1alpha1 has the messages of the stream protocol, which the server of graphs and its clients
// write as JSON (docs/stream.md). The OpenAPI document of the server and the types of client/js are
// generated from these types and their comments; see hack/generate/protocol.
//
// The engine writes the messages of a stream without these types, for speed. A test of package
// delivery decodes each member that the engine writes with them.
//
// The package knows the form of messages, and no servers, clients and connections.
package v1alpha1
